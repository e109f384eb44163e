// Code actions are worked out when they are chosen: with progress, and with a word when refused.

import {
  type CancellationToken,
  CancellationTokenSource,
  type CodeAction,
  ProgressLocation,
  window,
} from "vscode";
import { CodeActionResolveRequest, type LanguageClient } from "vscode-languageclient/node";
import { isCancelled, reasonOf } from "./failures";

export const APPLY_COMMAND = "intarsia.applyCodeAction";

/** Return the action with a command that previews and applies its edit; without one, as it was. */
export async function resolveCodeAction(
  client: LanguageClient,
  action: CodeAction,
  token: CancellationToken,
): Promise<CodeAction> {
  const params = client.code2ProtocolConverter.asCodeActionSync(action);
  try {
    const resolved = await window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: `Intarsia: ${action.title}`,
        cancellable: true,
      },
      (_progress, cancel) =>
        client.sendRequest(CodeActionResolveRequest.type, params, either(token, cancel)),
    );
    if (resolved.edit) {
      const { title } = action;
      action.command = { title, command: APPLY_COMMAND, arguments: [resolved.edit, title] };
    }
  } catch (error) {
    if (!token.isCancellationRequested && !isCancelled(error)) {
      void window.showWarningMessage(`Intarsia: ${reasonOf(error)}`);
    }
  }
  return action;
}

function either(...tokens: CancellationToken[]): CancellationToken {
  const source = new CancellationTokenSource();
  for (const token of tokens) {
    token.onCancellationRequested(() => source.cancel());
  }
  return source.token;
}
