// Compares the lines of a place with the lines that are offered for it, so that the difference can
// be drawn: within a line where lines pair up, as a block of new lines otherwise.

/** Text that would go: units `[start, end)` of a line. */
export interface Removed {
  line: number;
  start: number;
  end: number;
}

/** Text that would come, at a unit of a line; right after what it replaces. */
export interface Added {
  line: number;
  at: number;
  text: string;
}

/** Lines count from the first line of the place, columns in UTF-16 units. */
export interface LineDiff {
  removed: readonly Removed[];
  added: readonly Added[];
  /** New lines that have no old line of their own. */
  block: readonly string[];
  /** The line before which the block goes, or whose place it takes. */
  blockAt: number;
}

const TOKEN = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;
const MAX_PAIRS = 40_000; // of tokens that are compared
const MIN_ALIKE = 0.35; // lines with less in common are replaced as a whole

/** Return the lines of a text; a line end at its end begins no further one. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Return how to draw that the new lines replace the old ones. */
export function lineDiff(before: readonly string[], after: readonly string[]): LineDiff {
  if (before.length === after.length) {
    const pairs = before.map((line, index) => diffOfLine(index, line, after[index] ?? ""));
    return {
      removed: pairs.flatMap(({ removed }) => removed),
      added: pairs.flatMap(({ added }) => added),
      block: [],
      blockAt: 0,
    };
  }
  const top = commonLength(before, after);
  const bottom = commonLength(before.slice(top).reverse(), after.slice(top).reverse());
  const removed = before
    .slice(top, before.length - bottom)
    .map((line, index) => ({ line: top + index, start: indentOf(line), end: line.length }));
  const block = after.slice(top, after.length - bottom);
  return { removed, added: [], block, blockAt: top };
}

/** Return the smallest replacement within `before` that gives `after`, as units of `before`. */
export function trimmed(
  before: string,
  after: string,
): { start: number; end: number; text: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) {
    start += 1;
  }
  start -= isInsideCharacter(before, start) || isInsideCharacter(after, start) ? 1 : 0;
  let tail = 0;
  while (
    tail < shorter - start &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1;
  }
  const isCut = (text: string) => isInsideCharacter(text, text.length - tail);
  tail -= tail > 0 && (isCut(before) || isCut(after)) ? 1 : 0;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/** Whether a unit is the second one of a character or of a line end. */
function isInsideCharacter(text: string, at: number): boolean {
  const pair = text.slice(at - 1, at + 1);
  return at > 0 && (pair === "\r\n" || /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(pair));
}

function diffOfLine(
  line: number,
  before: string,
  after: string,
): { removed: Removed[]; added: Added[] } {
  const one = before.match(TOKEN) ?? [];
  const other = after.match(TOKEN) ?? [];
  const kept = one.length * other.length <= MAX_PAIRS ? commonTokens(one, other) : [];
  const numAlike = kept.reduce((sum, [index]) => sum + (one[index] ?? "").trim().length, 0);
  const longest = Math.max(before.trim().length, after.trim().length);
  const isAlike = numAlike >= MIN_ALIKE * longest;
  return isAlike ? pieces(line, one, other, kept) : wholeLine(line, before, after);
}

/** Replace all but what both lines begin and end with. */
function wholeLine(line: number, before: string, after: string): ReturnType<typeof diffOfLine> {
  if (before === after) {
    return { removed: [], added: [] };
  }
  const isSameIndent = before.slice(0, indentOf(before)) === after.slice(0, indentOf(after));
  const start = isSameIndent ? indentOf(before) : 0;
  const text = after.slice(start);
  return {
    removed: start < before.length ? [{ line, start, end: before.length }] : [],
    added: text === "" ? [] : [{ line, at: before.length, text }],
  };
}

/** Return what is removed and added between the tokens that both lines keep. */
function pieces(
  line: number,
  before: readonly string[],
  after: readonly string[],
  kept: readonly (readonly [number, number])[],
): ReturnType<typeof diffOfLine> {
  const removed: Removed[] = [];
  const added: Added[] = [];
  let [one, other, column] = [0, 0, 0];
  for (const [nextOne, nextOther] of [...kept, [before.length, after.length] as const]) {
    const gone = before.slice(one, nextOne).join("");
    const come = after.slice(other, nextOther).join("");
    if (gone !== "") {
      removed.push({ line, start: column, end: column + gone.length });
    }
    column += gone.length;
    if (come !== "") {
      added.push({ line, at: column, text: come });
    }
    column += (before[nextOne] ?? "").length;
    [one, other] = [nextOne + 1, nextOther + 1];
  }
  return { removed, added };
}

/** Return the longest sequence of tokens that both have, as pairs of their numbers. */
function commonTokens(one: readonly string[], other: readonly string[]): [number, number][] {
  const width = other.length + 1;
  const lengths = new Uint16Array((one.length + 1) * width);
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        one[i] === other[j]
          ? length(i + 1, j + 1) + 1
          : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) {
      pairs.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (length(i + 1, j) >= length(i, j + 1)) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return pairs;
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const shorter = Math.min(one.length, other.length);
  const at = one.slice(0, shorter).findIndex((line, index) => line !== other[index]);
  return at < 0 ? shorter : at;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
