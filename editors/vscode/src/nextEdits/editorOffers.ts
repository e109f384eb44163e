// The next edits that hold in an editor now: changes that an edit of the user has left to do.
// What the user does with one is told to the server.

import type { TextDocument, TextEditor } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import {
  NEXT_EDIT_DONE,
  type NextEdit,
  type NextEditDone,
  type NextEdits,
  type Rename,
} from "../protocol";
import { nextFrom, Offers } from "./offers";
import type { Renaming } from "./renaming";

export class EditorOffers {
  private readonly offers = new Offers();

  /** @param isHidden whether something else has precedence: ghost text, or a pause */
  constructor(
    private readonly client: () => LanguageClient,
    private readonly renaming: Renaming,
    private readonly isHidden: () => boolean,
  ) {}

  /** Take what the server offers in a document. */
  receive(offered: NextEdits): void {
    this.offers.receive(offered);
  }

  /** Take a change of a document. After undo and redo nothing is offered until the next change. */
  changed(document: TextDocument, isUndoOrRedo: boolean): void {
    this.offers.changed(this.nameOf(document), isUndoOrRedo);
  }

  /** Forget a document that was closed. */
  forget(document: TextDocument): void {
    this.offers.forget(this.nameOf(document));
  }

  /** Return what may be drawn and accepted in an editor now, in the order of lines. */
  current({ document }: TextEditor): NextEdit[] {
    return this.isHidden() ? [] : this.offers.at(this.nameOf(document), document.version);
  }

  /** Return an offer by its id; without one, the next from the cursor. */
  find(editor: TextEditor, id?: string): NextEdit | undefined {
    const offers = this.current(editor);
    return id === undefined
      ? nextFrom(offers, editor.selection.active.line)
      : offers.find((edit) => edit.id === id);
  }

  /** Whether the text has changed, and the server is about to move the offers that are drawn. */
  isBeingMoved({ document }: TextEditor): boolean {
    return !this.isHidden() && this.offers.isBeingMoved(this.nameOf(document), document.version);
  }

  /** Return the rename that a language server, or ours, can do everywhere. */
  renameIn({ document }: TextEditor): Rename | undefined {
    const rename = this.offers.renameAt(this.nameOf(document), document.version);
    const isPossible = rename?.elsewhere !== undefined || this.renaming.isPossible(document);
    return isPossible && !this.isHidden() ? rename : undefined;
  }

  /** Find out whether a language server can rename; return whether this is known only now. */
  async probe({ document }: TextEditor): Promise<boolean> {
    const rename = this.offers.renameAt(this.nameOf(document), document.version);
    const isOpen = rename !== undefined && !this.renaming.isPossible(document);
    return isOpen && this.renaming.probe(document, rename);
  }

  /** Tell the server what the user has done with an offer, and forget the offer. */
  done({ document }: TextEditor, edit: NextEdit, how: NextEditDone["how"]): void {
    const uri = this.nameOf(document);
    this.offers.remove(uri, edit.id);
    const message: NextEditDone = { uri, id: edit.id, how };
    void this.client().sendNotification(NEXT_EDIT_DONE, message);
  }

  /** Return a document's URI as the server has it. */
  nameOf({ uri }: TextDocument): string {
    return this.client().code2ProtocolConverter.asUri(uri);
  }
}
