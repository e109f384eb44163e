// The server's words in the language of VS Code. It speaks English to every editor, so they are
// looked up among the extension's own translations: as they are, else by a pattern such as
// "{0} is in disabledLanguages".

import { l10n } from "vscode";

type Words = Readonly<Record<string, string>>;

interface Pattern {
  english: string;
  regex: RegExp;
}

/** The places of a text that is joined from several. */
const JOINT = /( · |; )/;

/** Return a text of the server in the user's language; in English where it is not translated. */
export const translated = translator(l10n.bundle ?? {});

/** @param words translations by the English text */
export function translator(words: Words): (text: string) => string {
  const patterns = patternsOf(Object.keys(words));
  const whole = (text: string): string | undefined => {
    if (Object.hasOwn(words, text)) {
      return words[text];
    }
    const found = patterns.find(({ regex }) => regex.test(text));
    const args = found?.regex.exec(text)?.slice(1) ?? [];
    // What has no blank is a name.
    return (
      found &&
      filled(
        words[found.english] ?? "",
        args.map((it) => (it.includes(" ") ? all(it) : it)),
      )
    );
  };
  const all = (text: string): string =>
    whole(text) ??
    text
      .split(JOINT)
      .map((part) => whole(part) ?? part)
      .join("");
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
