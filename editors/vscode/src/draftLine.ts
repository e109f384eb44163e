// Draft → the line that is drawn of it: settled text as text, all that may still change as dots.

import type { DraftToken } from "./protocol";

const DOT = "·";
const NO_BREAK_SPACE = "\u00a0"; // decorations collapse runs of plain spaces
const MAX_COLUMNS = 120;

/** Return what is drawn of a draft: its first line, and how many lines follow. */
export function draftLine(tokens: readonly DraftToken[], tabSize: number): string {
  const [first = "", ...more] = tokens
    .map(({ text, settled }) => (settled ? text : soften(text)))
    .join("")
    .trimEnd()
    .split(/\r\n|\n|\r/);
  const line = first.replaceAll("\t", " ".repeat(tabSize)).slice(0, MAX_COLUMNS);
  const mark = more.length > 0 ? `  +${more.length}` : "";
  return `${line}${mark}`.replaceAll(" ", NO_BREAK_SPACE);
}

/** Return dots where there is text, so that its length can be seen and no word is. */
function soften(text: string): string {
  return text.replace(/\S/gu, DOT);
}
