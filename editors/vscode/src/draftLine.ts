// The line that is drawn for a draft: settled tokens as text, the others as dots.

import type { DraftToken } from "./protocol";

const DOT = "·";
const NO_BREAK_SPACE = "\u00a0"; // decorations collapse runs of plain spaces
const MAX_COLUMNS = 120;

/** Return the draft's first line, and the number of lines after it. */
export function draftLine(tokens: readonly DraftToken[], tabSize: number): string {
  const [first = "", ...more] = tokens
    .map(({ text, settled }) => (settled ? text : dotted(text)))
    .join("")
    .trimEnd()
    .split(/\r\n|\n|\r/);
  const line = first.replaceAll("\t", " ".repeat(tabSize)).slice(0, MAX_COLUMNS);
  const mark = more.length > 0 ? `  +${more.length}` : "";
  return `${line}${mark}`.replaceAll(" ", NO_BREAK_SPACE);
}

/** Return dots in place of the text, so that its length shows but not its words. */
function dotted(text: string): string {
  return text.replace(/\S/gu, DOT);
}
