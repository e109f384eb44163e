// The offers whose differences are on show: the one that the user went to, or all that are ticked
// in the list of all offers.

import {
  type Disposable,
  Position,
  Selection,
  type TextEditor,
  TextEditorRevealType,
  window,
} from "vscode";
import type { NextEdit } from "../protocol";
import { isIn, linesOfPlace, type Offers, rangeOf, type Version } from "./offers";

/** VS Code still tells of earlier places of the cursor so long after it was moved. */
const ARRIVING_MS = 300;

interface Shown extends Version {
  edit: NextEdit;
  isArriving: boolean;
}

interface Previewed extends Version {
  edits: readonly NextEdit[];
}

export class ShownOffers implements Disposable {
  private shown: Shown | null = null;
  private previewed: Previewed | null = null;
  private arriving: NodeJS.Timeout | undefined;

  /** @param update draws what is offered and on show now */
  constructor(
    private readonly offers: Offers,
    private readonly update: () => void,
  ) {}

  /** Move the cursor to an offer, and show its difference. */
  show(editor: TextEditor, edit: NextEdit): void {
    const { document } = editor;
    const [first, last] = linesOfPlace(document, edit);
    const { start } = rangeOf(edit.change.range);
    const at = start.line > last ? new Position(first, 0) : start;
    editor.selection = new Selection(at, at);
    editor.revealRange(editor.selection, TextEditorRevealType.InCenterIfOutsideViewport);
    const shown = { document, version: document.version, edit, isArriving: true };
    this.shown = shown;
    clearTimeout(this.arriving);
    this.arriving = setTimeout(() => {
      shown.isArriving = false;
      this.update(); // the cursor may have left meanwhile
    }, ARRIVING_MS);
    this.update();
  }

  /** End the difference of the one offer. */
  end(): void {
    this.shown = null;
  }

  /** Show the differences of these offers for a version of the text, in place of the one. */
  preview({ document }: TextEditor, version: number, edits: readonly NextEdit[]): void {
    this.end();
    this.previewed = { document, version, edits };
    this.update();
  }

  /** End the differences of the ticked offers. */
  endPreview(): void {
    this.previewed = null;
  }

  /** Return the offer whose difference is on show in an editor; it ends where the cursor leaves. */
  oneIn(editor: TextEditor): NextEdit | undefined {
    const { shown } = this;
    if (shown === null || !isIn(editor, shown) || editor !== window.activeTextEditor) {
      return undefined;
    }
    const edit = this.offers.find(editor, shown.edit.id);
    const [first, last] = edit === undefined ? [0, -1] : linesOfPlace(editor.document, edit);
    const { line } = editor.selection.active;
    if (edit !== undefined && !shown.isArriving && (line < first || line > last)) {
      this.end();
      return undefined;
    }
    return edit;
  }

  /** Return the offers whose differences are drawn: the one on show, or all that are ticked. */
  allIn(editor: TextEditor): readonly NextEdit[] {
    const { previewed } = this;
    if (previewed !== null && isIn(editor, previewed)) {
      return previewed.edits;
    }
    const shown = this.oneIn(editor);
    return shown === undefined ? [] : [shown];
  }

  dispose(): void {
    clearTimeout(this.arriving);
  }
}
