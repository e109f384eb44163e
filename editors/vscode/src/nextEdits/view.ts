// Draws next edits in each visible editor: a quiet mark at each place, the differences of those on
// show, and words on keys.

import { posix } from "node:path";
import {
  type DecorationOptions,
  Disposable,
  l10n,
  MarkdownString,
  OverviewRulerLane,
  Range,
  type TextDocument,
  type TextEditor,
  type TextEditorDecorationType,
  ThemeColor,
  window,
} from "vscode";
import type { NextEdit, Rename } from "../protocol";
import { usesIn } from "./choose";
import { linesOf, linesOfPlace, type Offers, rangeOf } from "./offers";
import type { ShownOffers } from "./shownOffers";
import type { Typing } from "./typing";

const NO_BREAK_SPACE = "\u00a0"; // decorations collapse runs of plain spaces
const BLOCK_GAP = 3; // columns between the longest line and a block of new lines
const QUIET = new ThemeColor("editorGhostText.foreground");
const ADDED: Readonly<Record<string, unknown>> = {
  backgroundColor: new ThemeColor("diffEditor.insertedTextBackground"),
  color: new ThemeColor("editor.foreground"),
  fontStyle: "normal",
};

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
  private readonly ofDifference = [this.removed, this.added, this.insertion];
  private readonly types = [this.mark, this.words, ...this.ofDifference];
  private readonly drawnIn = new Set<TextEditor>();

  constructor(
    private readonly offers: Offers,
    private readonly shown: ShownOffers,
    private readonly typing: Typing,
  ) {}

  /** Draw what is offered now. */
  update(): void {
    for (const editor of this.drawnIn) {
      if (!window.visibleTextEditors.includes(editor)) {
        this.drawnIn.delete(editor);
      }
    }
    for (const editor of window.visibleTextEditors) {
      if (this.offers.isBeingMoved(editor) && this.drawnIn.has(editor)) {
        clear(editor, this.ofDifference); // VS Code moves the marks, until the server has
      } else if (
        this.offers.current(editor).length > 0 ||
        this.offers.renameIn(editor) ||
        this.offers.elsewhere(editor)
      ) {
        this.draw(editor);
        this.drawnIn.add(editor);
      } else if (this.drawnIn.delete(editor)) {
        clear(editor, this.types);
      }
    }
  }

  dispose(): void {
    Disposable.from(...this.types).dispose();
  }

  private draw(editor: TextEditor): void {
    const { document } = editor;
    const offers = this.offers.current(editor);
    const shown = this.shown.allIn(editor);
    const rename = this.offers.renameIn(editor);
    const isPointedAt = editor === window.activeTextEditor && !this.typing.isOn;
    const next = isPointedAt ? this.offers.find(editor) : undefined;
    const marks = offers.map((edit) => {
      const { range } = document.lineAt(linesOfPlace(document, edit)[0]);
      return { range, hoverMessage: hover(document, edit, rename !== undefined) };
    });
    const words = offers
      .filter((edit) => edit !== next && !shown.some(({ id }) => id === edit.id))
      .map((edit) => afterLine(document, linesOfPlace(document, edit)[0], "⇥"));
    if (next !== undefined && shown.length === 0) {
      words.push(pointer(editor, next));
    }
    const elsewhere = isPointedAt ? this.offers.elsewhere(editor) : undefined;
    if (elsewhere !== undefined) {
      const name = posix.basename(this.offers.uriOf(elsewhere.uri).path);
      const where = l10n.t("⇥ next edit in {0}:{1}", name, elsewhere.range.start.line + 1);
      words.push(afterLine(document, editor.selection.active.line, where));
    }
    const differences = shown.map(({ difference }) => difference);
    const insertions = shown.filter(
      ({ range: { start, end } }) =>
        start.line === end.line && end.character === 0 && start.line < document.lineCount,
    );
    editor.setDecorations(this.mark, marks);
    editor.setDecorations(this.words, [...words, ...this.hint(editor, rename)]);
    editor.setDecorations(
      this.removed,
      differences.flatMap(({ removed }) => removed.map(rangeOf)),
    );
    editor.setDecorations(
      this.added,
      shown.flatMap((edit) => added(editor, edit)),
    );
    editor.setDecorations(
      this.insertion,
      insertions.map(({ range }) => document.lineAt(range.start.line).range),
    );
  }

  /** Return words at the offer on show, else at the changed name: a key can rename everywhere. */
  private hint(editor: TextEditor, rename: Rename | undefined): DecorationOptions[] {
    const shown = this.shown.oneIn(editor);
    const isTold = shown !== undefined || (rename?.elsewhere !== undefined && !this.typing.isOn);
    if (rename === undefined || !isTold) {
      return [];
    }
    const { elsewhere, position } = rename;
    const line = shown ? linesOfPlace(editor.document, shown)[0] : position.line;
    const words =
      elsewhere === undefined
        ? l10n.t("F2 renames everywhere")
        : l10n.t("F2 renames everywhere, {0}", usesIn(elsewhere));
    return [afterLine(editor.document, line, words)];
  }
}

function clear(editor: TextEditor, types: readonly TextEditorDecorationType[]): void {
  for (const type of types) {
    editor.setDecorations(type, []);
  }
}

/** Return words at the offer that the key goes to; at the cursor where its line is out of sight. */
function pointer(editor: TextEditor, edit: NextEdit): DecorationOptions {
  const { document, selection, visibleRanges } = editor;
  const [line] = linesOfPlace(document, edit);
  const cursor = selection.active.line;
  const isVisible = visibleRanges.some(({ start, end }) => start.line <= line && line <= end.line);
  const words = isVisible
    ? l10n.t("⇥ next edit")
    : l10n.t("⇥ next edit in line {0} {1}", line + 1, line < cursor ? "↑" : "↓");
  return afterLine(document, isVisible ? line : cursor, words);
}

/** Return new text: within lines, and as a block beside the lines that it takes the place of. */
function added({ document, options }: TextEditor, edit: NextEdit): DecorationOptions[] {
  const tabSize = Number(options.tabSize);
  const { block, added } = edit.difference;
  const inLines = added.map(({ position, text }) =>
    inserted(rangeOf({ start: position, end: position }), expanded(text, tabSize)),
  );
  if (block.length === 0) {
    return inLines;
  }
  const lines = Array.from({ length: document.lineCount }, (_, at) => document.lineAt(at).text);
  const beside = blockBeside(lines, edit.range.start.line, block, tabSize);
  return beside.map(({ line, gap, text }) => inserted(document.lineAt(line).range, text, gap));
}

/** One line of a block, to be drawn after the end of a line of the document. */
export interface BlockLine {
  line: number;
  /** Blanks before the block, so that its lines begin in one column. */
  gap: number;
  text: string;
}

/**
 * Return where to draw the lines of a block whose first one goes beside the line `first`:
 * decorations cannot push lines apart.
 *
 * `lines` are those of the document. A block at its end begins higher, and what has no line to be
 * drawn beside is joined to the last one.
 */
export function blockBeside(
  lines: readonly string[],
  first: number,
  block: readonly string[],
  tabSize: number,
): BlockLine[] {
  const top = Math.max(0, Math.min(first, lines.length - block.length));
  const rows = block.slice(0, Math.max(1, lines.length - top));
  const rest = block.slice(rows.length).map((line) => ` ⏎ ${line.trim()}`);
  const texts = rows.map((line, index) => {
    const more = index === rows.length - 1 ? rest.join("") : "";
    return `+ ${expanded(line, tabSize)}${more}`;
  });
  const taken = rows.map((_, index) => expanded(lines[top + index] ?? "", tabSize).length);
  const column = Math.max(...taken) + BLOCK_GAP;
  const width = Math.max(...texts.map((text) => text.length)) + 1;
  return texts.map((text, index) => ({
    line: top + index,
    gap: column - (taken[index] ?? 0),
    text: text.padEnd(width),
  }));
}

/** Return a line with its tabs as blanks. */
export function expanded(line: string, tabSize: number): string {
  let result = "";
  for (const part of line.split(/(\t)/)) {
    result += part === "\t" ? " ".repeat(tabSize - (result.length % tabSize)) : part;
  }
  return result;
}

/** Return new text that is drawn after a range; `gap` blanks are left before it. */
function inserted({ end }: Range, text: string, gap = 0): DecorationOptions {
  const after = { ...ADDED, contentText: unbroken(text), margin: `0 0 0 ${gap}ch` };
  return { range: new Range(end, end), renderOptions: { after } };
}

/** Return quiet words at the end of a line. */
function afterLine(document: TextDocument, line: number, words: string): DecorationOptions {
  const { end } = document.lineAt(line).range;
  const after = { contentText: unbroken(words), color: QUIET, margin: "0 0 0 3ch" };
  return { range: new Range(end, end), renderOptions: { after } };
}

/** Return what a pointer at the place shows: the change as a diff, and what can be done. */
function hover(document: TextDocument, edit: NextEdit, canRename: boolean): MarkdownString {
  const old = linesOf(document.getText(rangeOf(edit.range))).map((line) => `- ${line}`);
  const fresh = linesOf(edit.newText).map((line) => `+ ${line}`);
  const message = new MarkdownString(l10n.t("Intarsia: next edit"));
  message.appendCodeblock([...old, ...fresh].join("\n"), "diff");
  const argument = encodeURIComponent(JSON.stringify([{ id: edit.id }]));
  const links = [
    `[${l10n.t("Apply")}](command:intarsia.applyNextEdit?${argument})`,
    `[${l10n.t("Dismiss")}](command:intarsia.dismissNextEdit?${argument})`,
    `[${l10n.t("Apply all…")}](command:intarsia.applyAllNextEdits)`,
    ...(canRename ? [`[${l10n.t("Rename everywhere")}](command:intarsia.renameEverywhere)`] : []),
  ];
  message.appendMarkdown(links.join(" · "));
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
