// Draws a draft after the cursor, in the colour of ghost text, until the suggestion replaces it:
// settled tokens as text, the others as dots.

import {
  type DecorationOptions,
  Disposable,
  type Position,
  Range,
  type TextEditor,
  ThemeColor,
  window,
} from "vscode";
import type { DraftToken } from "./protocol";

const DOT = "·"; // so that the length of a guess shows, but not its words
const NO_BREAK_SPACE = "\u00a0"; // decorations collapse runs of plain spaces
const MAX_COLUMNS = 120;
const GHOST = new ThemeColor("editorGhostText.foreground");

export class DraftView implements Disposable {
  private readonly type = window.createTextEditorDecorationType({});
  private drawn: { editor: TextEditor; position: Position; line: string } | null = null;
  private readonly parts = Disposable.from(
    this.type,
    window.onDidChangeTextEditorSelection(() => this.clear()),
    window.onDidChangeActiveTextEditor(() => this.clear()),
  );

  draw(editor: TextEditor, position: Position, tokens: readonly DraftToken[]): void {
    const { selection, options } = editor;
    if (!selection.isEmpty || !selection.active.isEqual(position)) {
      return;
    }
    const line = draftLine(tokens, Number(options.tabSize));
    if (this.drawn?.line === line && this.drawn.position.isEqual(position)) {
      return;
    }
    if (this.drawn !== null && this.drawn.editor !== editor) {
      this.clear();
    }
    const decoration: DecorationOptions = {
      range: new Range(position, position),
      renderOptions: { after: { contentText: line, color: GHOST, fontStyle: "italic" } },
    };
    editor.setDecorations(this.type, [decoration]);
    this.drawn = { editor, position, line };
  }

  clear(): void {
    this.drawn?.editor.setDecorations(this.type, []);
    this.drawn = null;
  }

  dispose(): void {
    this.parts.dispose();
  }
}

/** Return the draft's first line, and the number of lines after it. */
export function draftLine(tokens: readonly DraftToken[], tabSize: number): string {
  const [first = "", ...more] = tokens
    .map(({ text, settled }) => (settled ? text : text.replace(/\S/gu, DOT)))
    .join("")
    .trimEnd()
    .split(/\r\n|\n|\r/);
  const line = first.replaceAll("\t", " ".repeat(tabSize)).slice(0, MAX_COLUMNS);
  const mark = more.length > 0 ? `  +${more.length}` : "";
  return `${line}${mark}`.replaceAll(" ", NO_BREAK_SPACE);
}
