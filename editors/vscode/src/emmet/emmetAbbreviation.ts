// What Emmet reads as an abbreviation: a word with its operators, such as `ul>li.item$*3` or `m10`.

/** Whether a line ends with an abbreviation that is alone in it or follows a tag. */
export function endsWithAbbreviation(line: string): boolean {
  return /(?:^|>)\s*[\w!#.][\w!#.:$*>+^()@[\]{}=%-]*$/.test(line);
}
