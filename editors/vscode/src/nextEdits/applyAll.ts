// Applies all offers of a document at once, after VS Code's own preview with a box for each.

import { type TextDocument, WorkspaceEdit, workspace } from "vscode";
import type { NextEdit } from "../protocol";
import { changeOf } from "./place";

/** Whatever is ticked is applied as one step of undo. */
export async function applyAll(
  document: TextDocument,
  offers: readonly NextEdit[],
): Promise<boolean> {
  const all = new WorkspaceEdit();
  for (const edit of offers) {
    const { range, text } = changeOf(document, edit);
    const label = `Next edit in line ${edit.range.start.line + 1}`;
    all.replace(document.uri, range, text, { needsConfirmation: true, label });
  }
  return workspace.applyEdit(all);
}
