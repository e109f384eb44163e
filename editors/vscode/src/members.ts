// Tells our server which members the editor's other language servers know after a dot.

import {
  CompletionItemKind,
  type CompletionList,
  commands,
  Position,
  Uri,
  workspace,
} from "vscode";
import type { Members, MembersParams } from "./protocol";

/** What is offered anywhere: words of the text, files, whole statements. */
const ANYWHERE = new Set([
  CompletionItemKind.Text,
  CompletionItemKind.Snippet,
  CompletionItemKind.File,
  CompletionItemKind.Folder,
  CompletionItemKind.Reference,
  CompletionItemKind.Color,
  CompletionItemKind.User,
  CompletionItemKind.Issue,
]);

/** Return them; null for another version of the document, and where none is known. */
export async function members({ textDocument, position }: MembersParams): Promise<Members | null> {
  const uri = Uri.parse(textDocument.uri);
  const document = workspace.textDocuments.find((it) => it.uri.toString() === uri.toString());
  if (document?.version !== textDocument.version) {
    return null;
  }
  const { line, character } = position;
  const list = await commands.executeCommand<CompletionList | undefined>(
    "vscode.executeCompletionItemProvider",
    document.uri,
    new Position(line, character),
  );
  const items = (list?.items ?? []).filter(({ kind }) => kind !== undefined && !ANYWHERE.has(kind));
  if (items.every(({ kind }) => kind === CompletionItemKind.Keyword)) {
    return null; // a keyword alone may be offered anywhere
  }
  const labels = items.map(({ label }) => (typeof label === "string" ? label : label.label));
  return { names: [...new Set(labels.flatMap(nameIn))], isIncomplete: list?.isIncomplete === true };
}

/** Return the name that a label begins with, without parameters or a mark: one, or none. */
export function nameIn(label: string): string[] {
  return /^[\p{L}_$][\p{L}\p{M}\p{N}_$]*/u.exec(label) ?? [];
}
