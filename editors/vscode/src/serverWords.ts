// The server's words in the language of VS Code. It speaks English to every editor, so they are
// looked up among the extension's own translations: as they are, else by a pattern such as
// "{0} is in disabledLanguages".

import { l10n } from "vscode";

type Words = Readonly<Record<string, string>>;

interface Pattern {
  english: string;
  regex: RegExp;
}

/** Return a text of the server in the user's language; in English where it is not translated. */
export const translated = translator(l10n.bundle ?? {});

/** @param words translations by the English text */
export function translator(words: Words): (text: string) => string {
  const patterns = patternsOf(Object.keys(words));
  const whole = (text: string): string | undefined => {
    if (Object.hasOwn(words, text)) {
      return words[text];
    }
    for (const { english, regex } of patterns) {
      const found = regex.exec(text);
      if (found !== null) {
        const args = found.slice(1).map((it) => (it.includes(" ") ? all(it) : it)); // else a name
        return filled(words[english] ?? "", args);
      }
    }
    return undefined;
  };
  const each = (text: string, joint: string, of: (part: string) => string) =>
    text.split(joint).map(of).join(joint);
  const all = (text: string): string =>
    each(text, " · ", (figure) => whole(figure) ?? each(figure, "; ", (it) => whole(it) ?? it));
  return all;
}

/** Return the patterns among English texts, those that say most first. */
function patternsOf(texts: readonly string[]): Pattern[] {
  const literals = (text: string) => text.replace(/\{\d\}/g, "").length;
  return texts
    .filter((text) => /\{\d\}/.test(text))
    .sort((one, other) => literals(other) - literals(one))
    .map((english) => ({ english, regex: new RegExp(`^${source(english)}$`, "s") }));
}

/** Return the source of a regular expression for a text with places for arguments. */
function source(english: string): string {
  return english.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\d\}/g, "(.*)");
}

function filled(text: string, args: readonly string[]): string {
  return text.replace(/\{(\d)\}/g, (_, index: string) => args[Number(index)] ?? "");
}
