// Accepts next edits: applies them to the text, and shows the next one, so that one key goes
// through all.

import { type Position, Selection, type TextEditor, window } from "vscode";
import type { NextEdit } from "../protocol";
import { isIn, type Offers, rangeOf, type Version } from "./offers";
import type { ShownOffers } from "./shownOffers";
import type { Typing } from "./typing";

/** After an offer was accepted, the next one of the same change is shown if it comes so soon. */
const GO_ON_MS = 1000;

interface GoingOn extends Version {
  at: Position;
  until: number;
}

export class Accepting {
  private goingOn: GoingOn | null = null;

  /** @param update draws what is offered and on show now */
  constructor(
    private readonly offers: Offers,
    private readonly shown: ShownOffers,
    private readonly typing: Typing,
    private readonly update: () => void,
  ) {}

  /** Apply an offer, put the cursor at its end, and show the next one. */
  async accept(editor: TextEditor, edit: NextEdit): Promise<void> {
    const { document } = editor;
    const { range, newText } = edit.change;
    const start = document.offsetAt(rangeOf(range).start);
    if (!(await this.applyAtOnce(editor, [edit]))) {
      return;
    }
    const at = document.positionAt(start + newText.replace(/\r?\n$/, "").length);
    editor.selection = new Selection(at, at);
    this.goingOn = { document, version: document.version, at, until: Date.now() + GO_ON_MS };
    this.goOn();
    this.update();
  }

  /** Apply offers as one step of undo; return whether it was possible. */
  async applyAtOnce(editor: TextEditor, edits: readonly NextEdit[]): Promise<boolean> {
    this.shown.end();
    // VS Code itself refuses it if the document has changed meanwhile.
    const isDone = await editor.edit((change) => {
      for (const { range, newText } of edits.map((edit) => edit.change)) {
        change.replace(rangeOf(range), newText);
      }
    });
    if (isDone) {
      this.typing.end(); // the server knows by the change what was accepted
    }
    return isDone;
  }

  /** Show the next offer after an accepted one, if the user is still there. */
  goOn(): void {
    const editor = window.activeTextEditor;
    const { goingOn } = this;
    if (goingOn === null || editor === undefined) {
      return;
    }
    const isThere =
      isIn(editor, goingOn) &&
      editor.selection.active.isEqual(goingOn.at) &&
      Date.now() < goingOn.until;
    const edit = isThere ? this.offers.find(editor) : undefined;
    if (edit !== undefined || !isThere) {
      this.goingOn = null;
    }
    if (edit !== undefined) {
      this.shown.show(editor, edit);
    }
  }
}
