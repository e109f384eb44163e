// The settings under `intarsia` as the server takes them.

/** The settings that VS Code lets a language override, as in `"[python]": {…}`. */
export const LANGUAGE_OPTIONS = [
  "enabled",
  "automatic",
  "nextEdit",
  "inComments",
  "inStrings",
  "overMenu",
  "showThreshold",
] as const;

/**
 * Return the server's answer when it asks for the section `intarsia`: all but the extension's own
 * settings. In `languages`, what VS Code has for a language goes before what that setting has.
 */
export function serverOptions(
  section: unknown,
  overrides: readonly { languageId: string; name: string; value: unknown }[],
): Record<string, unknown> {
  const options = { ...(section as Record<string, unknown>) };
  delete options.serverCommand;
  delete options.nextEditTab;
  const languages = { ...(options.languages as Record<string, object> | null) };
  for (const { languageId, name, value } of overrides) {
    languages[languageId] = { ...languages[languageId], [name]: value };
  }
  return { ...options, languages };
}
