// Decides what is drawn of next edits in each visible editor: marks, differences, and words on keys.

import { type Disposable, type TextEditor, window } from "vscode";
import type { NextEdit, Rename } from "../protocol";
import { usesIn } from "./choose";
import type { EditorOffers } from "./editorOffers";
import { nextFrom } from "./offers";
import { linesOfPlace } from "./place";
import type { ShownOffers } from "./shownOffers";
import type { Typing } from "./typing";
import { type Drawing, NextEditView } from "./view";

export class Drawings implements Disposable {
  private readonly view = new NextEditView();
  private readonly drawnIn = new Set<TextEditor>();

  constructor(
    private readonly offers: EditorOffers,
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
      this.draw(editor);
    }
  }

  dispose(): void {
    this.view.dispose();
  }

  private draw(editor: TextEditor): void {
    if (this.offers.isBeingMoved(editor) && this.drawnIn.has(editor)) {
      this.view.endDifference(editor);
      return; // VS Code moves the marks, until the server has
    }
    const offers = this.offers.current(editor);
    if (offers.length > 0 || this.offers.renameIn(editor) !== undefined) {
      this.view.draw(editor, this.drawing(editor, offers));
      this.drawnIn.add(editor);
    } else if (this.drawnIn.delete(editor)) {
      this.view.clear(editor);
    }
  }

  private drawing(editor: TextEditor, offers: readonly NextEdit[]): Drawing {
    const shown = this.shown.allIn(editor);
    const rename = this.offers.renameIn(editor);
    const canRename = rename !== undefined;
    const hint = rename && this.hint(editor, rename);
    const edit = nextFrom(offers, editor.selection.active.line);
    if (editor !== window.activeTextEditor || edit === undefined || this.typing.isOn) {
      return { offers, shown, canRename, hint };
    }
    const [line] = linesOfPlace(editor.document, edit);
    const isVisible = editor.visibleRanges.some(
      ({ start, end }) => start.line <= line && line <= end.line,
    );
    const cursor = editor.selection.active.line;
    const where = isVisible ? "" : ` in line ${line + 1} ${line < cursor ? "↑" : "↓"}`;
    const next = { edit, line: isVisible ? line : cursor, words: `⇥ next edit${where}` };
    return { offers, shown, canRename, hint, next };
  }

  /** Return words at the offer on show, else at the changed name: a key can rename everywhere. */
  private hint(editor: TextEditor, { elsewhere, position }: Rename): Drawing["hint"] {
    const shown = this.shown.oneIn(editor);
    if (shown === undefined && (elsewhere === undefined || this.typing.isOn)) {
      return undefined;
    }
    const [line] = shown ? linesOfPlace(editor.document, shown) : [position.line];
    const where = elsewhere === undefined ? "" : `, ${usesIn(elsewhere)}`;
    return { line, words: `F2 renames everywhere${where}` };
  }
}
