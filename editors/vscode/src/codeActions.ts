// Code actions are worked out when they are chosen: with progress, and with a word when refused.

import { CodeAction, type Command, ProgressLocation, window } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import { CodeActionResolveRequest, type LanguageClient } from "vscode-languageclient/node";
import { isCancelled, reasonOf } from "./failures";

export const RUN_COMMAND = "intarsia.runCodeAction";

/**
 * Give each action that is still to be worked out a command that does it.
 *
 * Left to VS Code's own resolving, the work of seconds is lost when the menu's actions have been
 * replaced meanwhile.
 */
export function withCommands<Actions extends (Command | CodeAction)[] | null | undefined>(
  client: LanguageClient,
  actions: Actions,
): Actions {
  for (const action of actions ?? []) {
    if (action instanceof CodeAction && !action.edit && !action.command) {
      const unresolved = client.code2ProtocolConverter.asCodeActionSync(action);
      action.command = { title: action.title, command: RUN_COMMAND, arguments: [unresolved] };
    }
  }
  return actions;
}

/** Return the edit of an action; null when there is none, which the user has been told. */
export async function workOut(
  client: LanguageClient,
  action: lsp.CodeAction,
): Promise<lsp.WorkspaceEdit | null> {
  try {
    const resolved = await window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: `Intarsia: ${action.title}`,
        cancellable: true,
      },
      (_progress, cancel) => client.sendRequest(CodeActionResolveRequest.type, action, cancel),
    );
    return resolved.edit ?? null;
  } catch (error) {
    if (!isCancelled(error)) {
      void window.showWarningMessage(`Intarsia: ${reasonOf(error)}`);
    }
    return null;
  }
}
