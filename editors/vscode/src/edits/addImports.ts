// Adds the imports that an accepted suggestion needs, so that one undo takes both back.

import { window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { AddedImports } from "../protocol";

interface AddImportsArguments {
  textDocument: { uri: string };
}

/**
 * Have the server return the edits, and make them if the document is still at their version.
 *
 * @param ask runs the server's command with these arguments
 */
export async function addImports(
  client: LanguageClient,
  args: readonly unknown[],
  ask: (args: unknown[]) => Thenable<unknown>,
): Promise<void> {
  const [argument] = args as AddImportsArguments[];
  const answer = (await ask([{ ...argument, apply: false }])) as AddedImports | null;
  const editor = window.activeTextEditor;
  const uri = editor && client.code2ProtocolConverter.asUri(editor.document.uri);
  if (uri !== argument?.textDocument.uri || editor?.document.version !== answer?.version) {
    return;
  }
  const edits = await client.protocol2CodeConverter.asTextEdits(answer?.edits ?? []);
  if (edits.length > 0) {
    await editor?.edit(
      (edit) => {
        for (const { range, newText } of edits) {
          edit.replace(range, newText);
        }
      },
      { undoStopBefore: false, undoStopAfter: true },
    );
  }
}
