// Accepts a suggestion up to its first unsure token; the rest stays as ghost text.

import { commands, EndOfLine, l10n, Range, Selection, type TextEditor, window } from "vscode";
import type { GhostText, Shown } from "./ghostText";
import { unitsRepeated } from "./afterTyping";

const MESSAGE_MS = 4000;
const ACCEPT_ALL = "editor.action.inlineSuggest.commit";

export async function acceptSure(ghostText: GhostText): Promise<void> {
  const shown = ghostText.shown();
  const [first] = shown?.rests ?? [];
  if (shown === null || first === undefined) {
    return;
  }
  if (shown.rests.every(({ sure }) => sure === "")) {
    window.setStatusBarMessage(l10n.t("Intarsia: no part of this suggestion is sure"), MESSAGE_MS);
  } else if (shown.rests.length > 1) {
    await acceptThenCut(shown);
  } else {
    await insert(shown, first.sure);
  }
}

async function insert({ editor, textAfter }: Shown, text: string): Promise<void> {
  const cursor = editor.selection.active;
  const end = cursor.translate(0, unitsRepeated(text, textAfter));
  await insertText(editor, new Range(cursor, end), text);
}

/** Replace a range, and put the cursor at its end; return whether it was possible. */
export async function insertText(
  editor: TextEditor,
  range: Range,
  text: string,
  undoStopAfter = true,
): Promise<boolean> {
  const isDone = await editor.edit((edit) => edit.replace(range, text), {
    undoStopBefore: true,
    undoStopAfter,
  });
  if (isDone) {
    const after = editor.document.positionAt(
      editor.document.offsetAt(range.start) + inDocument(editor, text).length,
    );
    editor.selections = [new Selection(after, after), ...editor.selections.slice(1)];
  }
  return isDone;
}

/** VS Code does not tell which candidate is shown: accept it whole, then cut it. */
async function acceptThenCut({ editor, rests, textAfter }: Shown): Promise<void> {
  const { document } = editor;
  const start = document.offsetAt(editor.selection.active);
  await commands.executeCommand(ACCEPT_ALL);
  const textFrom = (length: number) =>
    document.getText(new Range(document.positionAt(start), document.positionAt(start + length)));
  const accepted = rests.find(({ text }) => {
    const inserted = inDocument(editor, text);
    return textFrom(inserted.length) === inserted;
  });
  if (accepted === undefined) {
    return;
  }
  const all = inDocument(editor, accepted.text);
  const sure = inDocument(editor, accepted.sure);
  const replacement = sure + textAfter.slice(unitsRepeated(sure, textAfter));
  const range = new Range(document.positionAt(start), document.positionAt(start + all.length));
  await editor.edit((edit) => edit.replace(range, replacement), {
    undoStopBefore: false,
    undoStopAfter: true,
  });
  const after = document.positionAt(start + sure.length);
  editor.selection = new Selection(after, after);
}

/** Return the text with the document's own line ends. */
function inDocument({ document }: TextEditor, text: string): string {
  return document.eol === EndOfLine.CRLF ? text.replaceAll("\n", "\r\n") : text;
}
