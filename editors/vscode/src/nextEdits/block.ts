// Lays out new lines as a block to the right of the code: decorations cannot push lines apart.

/** One line of a block, to be drawn after the end of a line of the document. */
export interface BlockLine {
  line: number;
  /** Blanks before the block, so that its lines begin in one column. */
  gap: number;
  text: string;
}

const GAP = 3; // columns between the longest line and the block
const SIGN = "+ ";

/**
 * Return where to draw the lines of a block whose first one goes beside the line `first`.
 *
 * `lines` are those of the document. A block at its end begins higher, and what has no line to be
 * drawn beside is joined to the last one.
 */
export function blockBeside(
  lines: readonly string[],
  first: number,
  block: readonly string[],
  tabSize: number,
): BlockLine[] {
  const top = Math.max(0, Math.min(first, lines.length - block.length));
  const rows = block.slice(0, Math.max(1, lines.length - top));
  const rest = block.slice(rows.length).map((line) => ` ⏎ ${line.trim()}`);
  const texts = rows.map((line, index) => {
    const more = index === rows.length - 1 ? rest.join("") : "";
    return SIGN + expanded(line, tabSize) + more;
  });
  const taken = rows.map((_, index) => expanded(lines[top + index] ?? "", tabSize).length);
  const column = Math.max(...taken) + GAP;
  const width = Math.max(...texts.map((text) => text.length)) + 1;
  return texts.map((text, index) => ({
    line: top + index,
    gap: column - (taken[index] ?? 0),
    text: text.padEnd(width),
  }));
}

/** Return a line with its tabs as blanks. */
export function expanded(line: string, tabSize: number): string {
  let result = "";
  for (const part of line.split(/(\t)/)) {
    result += part === "\t" ? " ".repeat(tabSize - (result.length % tabSize)) : part;
  }
  return result;
}
