// Whether Tab would expand an Emmet abbreviation at the cursor. Ghost text would take that key.
//
// Where Emmet offers its abbreviations in the menu of completions, the server knows of the menu.

import { type Position, type TextDocument, workspace } from "vscode";

const LANGUAGES = [
  "html",
  "xml",
  "xsl",
  "haml",
  "jade",
  "slim",
  "pug",
  "vue",
  "svelte",
  "javascriptreact",
  "typescriptreact",
  "css",
  "scss",
  "sass",
  "less",
  "stylus",
];

export function expandsEmmet(document: TextDocument, position: Position): boolean {
  const emmet = workspace.getConfiguration("emmet", document);
  if (!emmet.get<boolean>("triggerExpansionOnTab", false)) {
    return false;
  }
  const { languageId } = document;
  const included = emmet.get<Record<string, string>>("includeLanguages", {});
  const isExcluded = emmet.get<string[]>("excludeLanguages", []).includes(languageId);
  const isKnown = LANGUAGES.includes(languageId) || languageId in included;
  const line = document.lineAt(position.line).text.slice(0, position.character);
  return isKnown && !isExcluded && endsWithAbbreviation(line);
}

/**
 * Whether a line ends with an abbreviation, such as `ul>li.item$*3` or `m10`: a word with Emmet's
 * operators, alone in the line or after a tag.
 */
export function endsWithAbbreviation(line: string): boolean {
  return /(?:^|>)\s*[\w!#.][\w!#.:$*>+^()@[\]{}=%-]*$/.test(line);
}
