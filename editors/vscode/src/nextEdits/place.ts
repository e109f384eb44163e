// Where an offered change is in a document of VS Code.

import { EndOfLine, Position, Range, type TextDocument } from "vscode";
import type { NextEdit } from "../protocol";
import { trimmed } from "./lineDiff";

/** The least that has to be replaced in a document, and the cursor after it. */
export interface Change {
  range: Range;
  text: string;
}

/** Return the range of whole lines that an offer replaces; the server counts as VS Code does. */
export function rangeOf({ range: { start, end } }: NextEdit): Range {
  return new Range(start.line, start.character, end.line, end.character);
}

/** Return the first and the last line of a place; of an insertion, the line that it goes before. */
export function linesOfPlace(document: TextDocument, edit: NextEdit): [number, number] {
  const { start, end } = rangeOf(edit);
  const most = document.lineCount - 1;
  const last = end.character === 0 ? end.line - 1 : end.line;
  return [Math.min(start.line, most), Math.min(Math.max(start.line, last), most)];
}

/** Return the change that makes the offer's lines of the present ones. */
export function changeOf(document: TextDocument, edit: NextEdit): Change {
  const range = rangeOf(edit);
  const text = inDocument(document, edit.newText);
  const part = trimmed(document.getText(range), text);
  const from = document.offsetAt(range.start);
  const start = document.positionAt(from + part.start);
  return {
    range: new Range(start, document.positionAt(from + part.end)),
    text: part.text,
  };
}

/** Return where the cursor goes to look at an offer: its first difference. */
export function startOf(document: TextDocument, edit: NextEdit): Position {
  const [first, last] = linesOfPlace(document, edit);
  const { start } = changeOf(document, edit).range;
  return start.line > last ? new Position(first, 0) : start;
}

/** Return the text with the document's own line ends. */
function inDocument({ eol }: TextDocument, text: string): string {
  const plain = text.replaceAll("\r\n", "\n");
  return eol === EndOfLine.CRLF ? plain.replaceAll("\n", "\r\n") : plain;
}
