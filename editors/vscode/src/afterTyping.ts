// A suggestion after some of it was typed: its rest, and the text that accepting a part replaces.

import type { Confidence } from "./protocol";

export interface Candidate {
  text: string;
  /** The start of `text` up to the first unsure token. */
  sure: string;
}

/** Return a candidate with plain line ends. Without confidences, no part of it is sure. */
export function asCandidate(text: string, confidence: Confidence | undefined): Candidate {
  return { text: plainLines(text), sure: plainLines(confidence?.sure ?? "") };
}

/** Return the text with one unit for each line end, as suggestions are compared. */
export function plainLines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Return the rest of `text` after `typed`; null when `text` does not start so or has no rest. */
export function restAfter(text: string, typed: string): string | null {
  return text.length > typed.length && text.startsWith(typed) ? text.slice(typed.length) : null;
}

/**
 * Return how many units of `textAfter`, the replaced text after the cursor, `inserted` repeats.
 *
 * A suggestion may replace closing brackets after the cursor and contain them itself. They are
 * matched in order, so that accepting a part neither doubles nor deletes any.
 */
export function unitsRepeated(inserted: string, textAfter: string): number {
  let units = 0;
  for (const unit of inserted) {
    if (units < textAfter.length && textAfter[units] === unit) {
      units += 1;
    }
  }
  return units;
}
