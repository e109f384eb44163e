// Applies an edit of the server to the version it was made for, after a preview if it needs one.

import { l10n, WorkspaceEdit, window, workspace } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import { type LanguageClient, TextDocument, TextDocumentEdit } from "vscode-languageclient/node";
import type { EditPreview } from "./editPreview";
import { warn } from "../messages";

/** @param title what the edit does, for the preview */
export async function applyEdit(
  client: LanguageClient,
  preview: EditPreview,
  edit: lsp.WorkspaceEdit,
  title: string,
): Promise<void> {
  const change = edit.documentChanges?.find(TextDocumentEdit.is);
  if (change === undefined) {
    return;
  }
  const uri = client.protocol2CodeConverter.asUri(change.textDocument.uri);
  const document = await workspace.openTextDocument(uri);
  const isCurrent = () => document.version === change.textDocument.version;
  const edits = change.edits as lsp.TextEdit[];
  const all = new WorkspaceEdit();
  all.set(uri, await client.protocol2CodeConverter.asTextEdits(edits));
  if (isCurrent() && asksFirst(edit)) {
    const before = TextDocument.create("", document.languageId, 0, document.getText());
    const text = TextDocument.applyEdits(before, edits);
    if (!(await preview.ask(document, text, l10n.t("{0} (preview)", title)))) {
      return;
    }
  }
  if (!isCurrent()) {
    void warn(l10n.t("the document has changed, so the edit was not applied: run it again"));
    return;
  }
  if (await workspace.applyEdit(all)) {
    await window.showTextDocument(document);
  }
}

function asksFirst({ changeAnnotations }: lsp.WorkspaceEdit): boolean {
  return Object.values(changeAnnotations ?? {}).some(({ needsConfirmation }) => needsConfirmation);
}
