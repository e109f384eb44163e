// Adds the imports that an accepted suggestion needs, so that one undo takes both back.

import { window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { AddedImports } from "../protocol";
import { documentOf, editsFor, toBeReturned } from "./importEdits";

/** @param ask runs the server's command with these arguments */
export async function addImports(
  client: LanguageClient,
  args: readonly unknown[],
  ask: (args: unknown[]) => Thenable<unknown>,
): Promise<void> {
  const answer = (await ask(toBeReturned(args))) as AddedImports | null;
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    return;
  }
  const { document } = editor;
  if (client.code2ProtocolConverter.asUri(document.uri) !== documentOf(args)) {
    return;
  }
  const edits = await client.protocol2CodeConverter.asTextEdits([
    ...editsFor(document.version, answer),
  ]);
  if (edits.length > 0) {
    await editor.edit(
      (edit) => {
        for (const { range, newText } of edits) {
          edit.replace(range, newText);
        }
      },
      { undoStopBefore: false, undoStopAfter: true },
    );
  }
}
