// Draws next edits with decorations: a quiet mark at each place, and the difference where one is
// shown.

import {
  type DecorationOptions,
  type Disposable,
  MarkdownString,
  OverviewRulerLane,
  Range,
  type TextDocument,
  type TextEditor,
  ThemeColor,
  window,
} from "vscode";
import type { NextEdit } from "../protocol";
import { blockBeside, expanded } from "./block";
import { lineDiff, linesOf } from "./lineDiff";
import { linesOfPlace, rangeOf } from "./place";

const NO_BREAK_SPACE = "\u00a0"; // decorations collapse runs of plain spaces
const QUIET = new ThemeColor("editorGhostText.foreground");
const ADDED: Readonly<Record<string, unknown>> = {
  backgroundColor: new ThemeColor("diffEditor.insertedTextBackground"),
  color: new ThemeColor("editor.foreground"),
  fontStyle: "normal",
};

/** What is drawn in an editor. */
export interface Drawing {
  offers: readonly NextEdit[];
  /** Those whose differences are drawn. */
  shown: readonly NextEdit[];
  /** A language server can rename everywhere. */
  canRename: boolean;
  /** Words about the one on show. */
  hint?: { line: number; words: string };
  /** The one that the key goes to, with words about it. */
  next?: { edit: NextEdit; line: number; words: string };
}

export class NextEditView implements Disposable {
  private readonly mark = window.createTextEditorDecorationType({
    overviewRulerColor: new ThemeColor("editorOverviewRuler.infoForeground"),
    overviewRulerLane: OverviewRulerLane.Right,
  });
  private readonly words = window.createTextEditorDecorationType({});
  private readonly removed = window.createTextEditorDecorationType({
    backgroundColor: new ThemeColor("diffEditor.removedTextBackground"),
    textDecoration: "line-through",
  });
  private readonly added = window.createTextEditorDecorationType({});
  private readonly insertion = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: "solid",
    borderWidth: "1px 0 0 0",
    borderColor: new ThemeColor("editorOverviewRuler.addedForeground"),
  });
  private readonly types = [this.mark, this.words, this.removed, this.added, this.insertion];

  draw(editor: TextEditor, { offers, shown, canRename, hint, next }: Drawing): void {
    const { document } = editor;
    const isShown = (edit: NextEdit) => shown.some(({ id }) => id === edit.id);
    const marks = offers.map((edit) => {
      const [line] = linesOfPlace(document, edit);
      return { range: document.lineAt(line).range, hoverMessage: hover(document, edit, canRename) };
    });
    editor.setDecorations(this.mark, marks);
    const texts = offers
      .filter((edit) => !isShown(edit) && edit !== next?.edit)
      .map((edit) => afterLine(document, linesOfPlace(document, edit)[0], "⇥"));
    if (next !== undefined && shown.length === 0) {
      texts.push(afterLine(document, next.line, next.words));
    }
    if (hint !== undefined) {
      texts.push(afterLine(document, hint.line, hint.words));
    }
    editor.setDecorations(this.words, texts);
    this.drawDifferences(editor, shown);
  }

  endDifference(editor: TextEditor): void {
    for (const type of [this.removed, this.added, this.insertion]) {
      editor.setDecorations(type, []);
    }
  }

  clear(editor: TextEditor): void {
    for (const type of this.types) {
      editor.setDecorations(type, []);
    }
  }

  dispose(): void {
    for (const type of this.types) {
      type.dispose();
    }
  }

  private drawDifferences(editor: TextEditor, edits: readonly NextEdit[]): void {
    const { document } = editor;
    const drawn = edits.map((edit) => difference(editor, edit));
    const insertions = edits.filter(
      ({ range: { start, end } }) =>
        start.line === end.line && end.character === 0 && start.line < document.lineCount,
    );
    editor.setDecorations(
      this.removed,
      drawn.flatMap(({ removed }) => removed),
    );
    editor.setDecorations(
      this.added,
      drawn.flatMap(({ added }) => added),
    );
    editor.setDecorations(
      this.insertion,
      insertions.map(({ range }) => document.lineAt(range.start.line).range),
    );
  }
}

/** Return what is struck, and what is drawn as new text. */
function difference(
  { document, options }: TextEditor,
  edit: NextEdit,
): { removed: Range[]; added: DecorationOptions[] } {
  const tabSize = Number(options.tabSize);
  const first = edit.range.start.line;
  const before = linesOf(document.getText(rangeOf(edit)));
  const found = lineDiff(before, linesOf(edit.newText));
  const removed = found.removed.map(
    ({ line, start, end }) => new Range(first + line, start, first + line, end),
  );
  const added = found.added.map(({ line, at, text }) =>
    inserted(new Range(first + line, at, first + line, at), expanded(text, tabSize)),
  );
  if (found.block.length > 0) {
    const lines = Array.from({ length: document.lineCount }, (_, at) => document.lineAt(at).text);
    const block = blockBeside(lines, first + found.blockAt, found.block, tabSize);
    for (const { line, gap, text } of block) {
      added.push(inserted(document.lineAt(line).range, text, gap));
    }
  }
  return { removed, added };
}

/** Return new text that is drawn after a range; `gap` blanks are left before it. */
function inserted(range: Range, text: string, gap = 0): DecorationOptions {
  const end = new Range(range.end, range.end);
  const after = { ...ADDED, contentText: unbroken(text), margin: `0 0 0 ${gap}ch` };
  return { range: end, renderOptions: { after } };
}

/** Return quiet words at the end of a line. */
function afterLine(document: TextDocument, line: number, words: string): DecorationOptions {
  const { end } = document.lineAt(line).range;
  const after = { contentText: unbroken(words), color: QUIET, margin: "0 0 0 3ch" };
  return { range: new Range(end, end), renderOptions: { after } };
}

/** Return what a pointer at the place shows: the change as a diff, and what can be done. */
function hover(document: TextDocument, edit: NextEdit, canRename: boolean): MarkdownString {
  const old = linesOf(document.getText(rangeOf(edit))).map((line) => `- ${line}`);
  const fresh = linesOf(edit.newText).map((line) => `+ ${line}`);
  const message = new MarkdownString("Intarsia: next edit");
  message.appendCodeblock([...old, ...fresh].join("\n"), "diff");
  const argument = encodeURIComponent(JSON.stringify([{ id: edit.id }]));
  message.appendMarkdown(
    `[Apply](command:intarsia.applyNextEdit?${argument}) · ` +
      `[Dismiss](command:intarsia.dismissNextEdit?${argument}) · ` +
      "[Apply all…](command:intarsia.applyAllNextEdits)" +
      (canRename ? " · [Rename everywhere](command:intarsia.renameEverywhere)" : ""),
  );
  message.isTrusted = {
    enabledCommands: [
      "intarsia.applyNextEdit",
      "intarsia.dismissNextEdit",
      "intarsia.applyAllNextEdits",
      "intarsia.renameEverywhere",
    ],
  };
  return message;
}

function unbroken(text: string): string {
  return text.replaceAll(" ", NO_BREAK_SPACE);
}
