// Replaces ranges of a text.

export interface Replacement {
  /** UTF-16 offsets. */
  start: number;
  end: number;
  text: string;
}

/** Return `source` with the replacements; they do not overlap and may be in any order. */
export function textWith(source: string, replacements: readonly Replacement[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, text } of [...replacements].sort((a, b) => a.start - b.start)) {
    result += source.slice(at, start) + text;
    at = end;
  }
  return result + source.slice(at);
}
