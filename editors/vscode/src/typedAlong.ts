// A suggestion while some of it is typed: what is left of it, and what taking a part over replaces.

import type { Confidence } from "./protocol";

export interface Candidate {
  text: string;
  /** The beginning of `text` up to the first unsure token. */
  sure: string;
}

/** Suggestions for one place, each of which replaces the same range of one line. */
export interface Suggested {
  uri: string;
  line: number;
  character: number;
  /** UTF-16 units of the line that stood behind the replaced range. */
  unitsBehind: number;
  candidates: readonly Candidate[];
}

/** Return a candidate with plain line ends. Without a confidence nothing of it is sure. */
export function asCandidate(text: string, confidence: Confidence | undefined): Candidate {
  return { text: plainLines(text), sure: plainLines(confidence?.sure ?? "") };
}

/** Return the text with one unit for each line end, as suggestions are compared. */
export function plainLines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Return the rest of `text` once `typed` was typed at its place; null when it does not go on so. */
export function restAfter(text: string, typed: string): string | null {
  return text.length > typed.length && text.startsWith(typed) ? text.slice(typed.length) : null;
}

/**
 * Return how many units of `behind`, the replaced text after the cursor, `inserted` brings again.
 *
 * A suggestion may reach over closing brackets behind the cursor and contain them itself. They are
 * matched in order, so that taking a part of it over neither doubles nor deletes any.
 */
export function unitsBroughtAgain(inserted: string, behind: string): number {
  let units = 0;
  for (const unit of inserted) {
    if (units < behind.length && behind[units] === unit) {
      units += 1;
    }
  }
  return units;
}
