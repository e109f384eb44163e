// What the server offers in each document, and whether it still holds for the text there now.

import type { NextEdit, NextEdits, Rename } from "../protocol";

export class Offers {
  private readonly of = new Map<string, NextEdits>(); // by URI as the server has it
  private readonly silent = new Set<string>();

  /** Take what the server offers in a document. */
  receive(offered: NextEdits): void {
    if (offered.edits.length > 0 || offered.rename?.elsewhere !== undefined) {
      this.of.set(offered.uri, offered);
    } else {
      this.of.delete(offered.uri);
    }
  }

  /** Take a change of a document. After undo and redo nothing is offered until the next change. */
  changed(uri: string, isUndoOrRedo: boolean): void {
    if (isUndoOrRedo) {
      this.silent.add(uri);
    } else {
      this.silent.delete(uri);
    }
  }

  /** Return the offers for this very version, in the order of lines. */
  at(uri: string, version: number): NextEdit[] {
    const edits = this.offeredAt(uri, version)?.edits ?? [];
    return [...edits].sort((one, other) => one.range.start.line - other.range.start.line);
  }

  /** Return the rename that the last edit has begun, for this very version. */
  renameAt(uri: string, version: number): Rename | undefined {
    return this.offeredAt(uri, version)?.rename;
  }

  /** Whether the document has changed since its offers: the server is about to send them again. */
  isBeingMoved(uri: string, version: number): boolean {
    const offered = this.of.get(uri);
    return offered !== undefined && offered.version < version && !this.silent.has(uri);
  }

  /** Take one offer away: it was accepted or dismissed. */
  remove(uri: string, id: string): void {
    const offered = this.of.get(uri);
    if (offered !== undefined) {
      this.receive({ ...offered, edits: offered.edits.filter((edit) => edit.id !== id) });
    }
  }

  private offeredAt(uri: string, version: number): NextEdits | undefined {
    const offered = this.of.get(uri);
    return offered?.version === version && !this.silent.has(uri) ? offered : undefined;
  }

  /** Forget a document that was closed. */
  forget(uri: string): void {
    this.of.delete(uri);
    this.silent.delete(uri);
  }
}

/** Return the first offer at a line or below, else the first in the document. */
export function nextFrom(offers: readonly NextEdit[], line: number): NextEdit | undefined {
  return offers.find(({ range }) => range.start.line >= line) ?? offers[0];
}

/** Return the same change among newer offers: it may have another id there. */
export function sameAmong(offers: readonly NextEdit[], edit: NextEdit): NextEdit | undefined {
  return offers.find(
    ({ range, newText }) =>
      newText === edit.newText &&
      range.start.line === edit.range.start.line &&
      range.end.line === edit.range.end.line &&
      range.end.character === edit.range.end.character,
  );
}
