// Code actions are worked out when they are chosen: with progress, and with a word when refused.

import { CodeAction, type Command, ProgressLocation, window } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import { CodeActionResolveRequest, type LanguageClient } from "vscode-languageclient/node";
import { RUN_COMMANDS } from "./codeActionCommands";
import { isCancelled, reasonOf } from "./failures";

let offered: lsp.CodeAction[] = [];

/** Return what the command with this number does now. */
export function offeredAction(index: number): lsp.CodeAction | undefined {
  return offered[index];
}

/**
 * Give each action that is still to be worked out a command that does it.
 *
 * Once VS Code has replaced a menu's actions, it forgets what they resolve to and the arguments of
 * their commands, even while one of them is about to run: so the commands have none.
 */
export function withCommands<Actions extends (Command | CodeAction)[] | null | undefined>(
  client: LanguageClient,
  actions: Actions,
): Actions {
  const unresolved = (actions ?? [])
    .flatMap((action) => (action instanceof CodeAction ? [action] : []))
    .filter((action) => !action.edit && !action.command)
    .slice(0, RUN_COMMANDS.length);
  if (unresolved.length > 0) {
    offered = unresolved.map((one) => client.code2ProtocolConverter.asCodeActionSync(one));
  }
  unresolved.forEach((action, index) => {
    action.command = { title: action.title, command: RUN_COMMANDS[index] ?? "" };
  });
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
