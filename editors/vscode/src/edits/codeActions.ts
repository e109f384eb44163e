// Code actions are resolved when they are chosen, with progress and with a message on failure.

import { CodeAction, type Command, ProgressLocation, window } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import type { LanguageClient } from "vscode-languageclient/node";
import { plainText, warnOf } from "../messages";
import { translated } from "../serverWords";

const MAX_OFFERED = 8;

/** The commands of code actions: one for each action that can be offered at once. */
export const RUN_COMMANDS = Array.from(
  { length: MAX_OFFERED },
  (_, index) => `intarsia.runCodeAction${String(index)}`,
);

let offered: lsp.CodeAction[] = [];

/** Return the action that the command with this number runs now. */
export function offeredAction(index: number): lsp.CodeAction | undefined {
  return offered[index];
}

/**
 * Give each unresolved action a command that resolves and applies it.
 *
 * Once VS Code has replaced a menu's actions, it forgets their resolved edits and their commands'
 * arguments, even while one is about to run. So the commands have no arguments.
 */
export function withCommands<Actions extends (Command | CodeAction)[] | null | undefined>(
  client: LanguageClient,
  actions: Actions,
): Actions {
  for (const action of actions ?? []) {
    action.title = translated(action.title);
  }
  const unresolved = (actions ?? [])
    .flatMap((action) => (action instanceof CodeAction ? [action] : []))
    .filter((action) => !action.edit && !action.command)
    .slice(0, RUN_COMMANDS.length);
  if (unresolved.length > 0) {
    offered = unresolved.map((action) => client.code2ProtocolConverter.asCodeActionSync(action));
  }
  unresolved.forEach((action, index) => {
    action.command = { title: action.title, command: RUN_COMMANDS[index] ?? "" };
  });
  return actions;
}

/** Return the edit of an action; null when there is none, after a message to the user. */
export async function resolveEdit(
  client: LanguageClient,
  action: lsp.CodeAction,
): Promise<lsp.WorkspaceEdit | null> {
  try {
    const resolved = await window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: plainText(`Intarsia: ${action.title}`),
        cancellable: true,
      },
      (_progress, cancel) =>
        client.sendRequest<lsp.CodeAction>("codeAction/resolve", action, cancel),
    );
    return resolved.edit ?? null;
  } catch (error) {
    warnOf(error);
    return null;
  }
}
