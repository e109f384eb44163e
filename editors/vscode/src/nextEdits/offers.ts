// The next edits that hold for the text in an editor now: changes that an edit of the user has left
// to do. What the user does with one is told to the server.

import { Range, type TextDocument, type TextEditor, type Uri } from "vscode";
import type { LanguageClient, Location, Range as LspRange } from "vscode-languageclient/node";
import {
  NEXT_EDIT_DONE,
  type NextEdit,
  type NextEditDone,
  type NextEdits,
  type Rename,
} from "../protocol";
import type { Renaming } from "./renaming";

export class Offers {
  private readonly of = new Map<string, NextEdits>(); // by URI as the server has it

  /** @param isHidden whether something else has precedence: ghost text, or a pause */
  constructor(
    private readonly client: () => LanguageClient,
    private readonly renaming: Renaming,
    private readonly isHidden: () => boolean,
  ) {}

  /** Take what the server offers in a document. */
  receive(offered: NextEdits): void {
    if (offered.edits.length > 0 || offered.rename?.elsewhere || offered.next) {
      this.of.set(offered.uri, offered);
    } else {
      this.of.delete(offered.uri);
    }
  }

  /** Forget a document that was closed. */
  forget(document: TextDocument): void {
    this.of.delete(this.nameOf(document));
  }

  /** Return what may be drawn and accepted in an editor now, in the order of lines. */
  current({ document }: TextEditor): readonly NextEdit[] {
    const edits = this.isHidden() ? [] : (this.offeredIn(document)?.edits ?? []);
    return [...edits].sort((one, other) => one.range.start.line - other.range.start.line);
  }

  /** Return the place in another document where the edit goes on, if this one has none left. */
  elsewhere(editor: TextEditor): Location | undefined {
    const next = this.isHidden() ? undefined : this.offeredIn(editor.document)?.next;
    return this.current(editor).length === 0 ? next : undefined;
  }

  /** Return an offer by its id; without one, the first at the cursor's line or below, else the first. */
  find(editor: TextEditor, id?: string): NextEdit | undefined {
    const offers = this.current(editor);
    const { line } = editor.selection.active;
    return id === undefined
      ? (offers.find(({ range }) => range.start.line >= line) ?? offers[0])
      : offers.find((edit) => edit.id === id);
  }

  /** Whether the text has changed, and the server is about to move the offers that are drawn. */
  isBeingMoved({ document }: TextEditor): boolean {
    const offered = this.of.get(this.nameOf(document));
    return offered !== undefined && offered.version < document.version && !this.isHidden();
  }

  /** Return the rename that a language server, or ours, can do everywhere. */
  renameIn({ document }: TextEditor): Rename | undefined {
    const rename = this.offeredIn(document)?.rename;
    const isPossible = rename?.elsewhere !== undefined || this.renaming.isPossible(document);
    return isPossible && !this.isHidden() ? rename : undefined;
  }

  /** Find out whether a language server can rename, before the user may want it. */
  async probe({ document }: TextEditor): Promise<void> {
    const rename = this.offeredIn(document)?.rename;
    await (rename && this.renaming.probe(document, rename));
  }

  /** Tell the server that the user dismisses an offer, and forget the offer. */
  dismiss({ document }: TextEditor, { id }: NextEdit): void {
    const uri = this.nameOf(document);
    const offered = this.of.get(uri);
    if (offered !== undefined) {
      this.receive({ ...offered, edits: offered.edits.filter((edit) => edit.id !== id) });
    }
    const message: NextEditDone = { uri, id, how: "dismissed" };
    void this.client().sendNotification(NEXT_EDIT_DONE, message);
  }

  /** Return a document's URI as the server has it. */
  nameOf({ uri }: TextDocument): string {
    return this.client().code2ProtocolConverter.asUri(uri);
  }

  /** Return VS Code's URI for one of the server. */
  uriOf(uri: string): Uri {
    return this.client().protocol2CodeConverter.asUri(uri);
  }

  /** Return what is offered for this very version of a document. */
  private offeredIn(document: TextDocument): NextEdits | undefined {
    const offered = this.of.get(this.nameOf(document));
    return offered?.version === document.version ? offered : undefined;
  }
}

/** One version of a document. */
export interface Version {
  document: TextDocument;
  version: number;
}

/** Whether an editor shows just this version. */
export function isIn({ document }: TextEditor, at: Version): boolean {
  return document === at.document && document.version === at.version;
}

/** Return a range of the server, which counts as VS Code does. */
export function rangeOf({ start, end }: LspRange): Range {
  return new Range(start.line, start.character, end.line, end.character);
}

/** Return the first and the last line of an offer; of an insertion, the line that it goes before. */
export function linesOfPlace(document: TextDocument, edit: NextEdit): [number, number] {
  const { start, end } = edit.range;
  const most = document.lineCount - 1;
  const last = end.character === 0 ? end.line - 1 : end.line;
  return [Math.min(start.line, most), Math.min(Math.max(start.line, last), most)];
}

/** Return the lines of a text; a line end at its end begins no further one. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
