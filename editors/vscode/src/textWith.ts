// A text with some of its ranges replaced.

export interface Replacement {
  /** UTF-16 offsets. */
  start: number;
  end: number;
  text: string;
}

/** Return `source` with the replacements made; they do not overlap and may come in any order. */
export function textWith(source: string, replacements: readonly Replacement[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, text } of [...replacements].sort((a, b) => a.start - b.start)) {
    result += source.slice(at, start) + text;
    at = end;
  }
  return result + source.slice(at);
}
