// The settings under `intarsia` that the server takes, under the same names.

export const SERVER_OPTIONS = [
  "enabled",
  "preload",
  "model",
  "decoding",
  "readAhead",
  "projectContext",
  "addImports",
  "fillAhead",
  "nextEdit",
  "warmStart",
  "debounceMs",
  "deadlineMs",
  "invokedDeadlineMs",
  "maxCandidates",
  "editCandidates",
  "maxPrefixTokens",
  "maxSuffixTokens",
  "maxHoleTokens",
  "disabledLanguages",
  "languages",
  "inComments",
  "inStrings",
  "overMenu",
  "onBattery",
  "whenBusy",
  "statistics",
  "exclude",
  "excludeSecrets",
  "showThreshold",
  "drafts",
  "sureConfidence",
  "previewEdits",
  "holeMarks",
  "rewriteNoise",
] as const;

/** Of these, the settings that VS Code lets a language override, as in `"[python]": {…}`. */
export const LANGUAGE_OPTIONS = [
  "enabled",
  "nextEdit",
  "inComments",
  "inStrings",
  "overMenu",
  "showThreshold",
] as const;

/** The values of single languages: `languages`, and over it what VS Code has for each of them. */
export function withLanguages(
  options: Record<string, unknown>,
  overrides: readonly { languageId: string; name: string; value: unknown }[],
): Record<string, unknown> {
  const languages = { ...(options.languages as Record<string, object> | null) };
  for (const { languageId, name, value } of overrides) {
    languages[languageId] = { ...languages[languageId], [name]: value };
  }
  return { ...options, languages };
}

/** Return the server's answer when it asks for the section `intarsia`. */
export function serverOptions(section: unknown): Record<string, unknown> {
  const settings = (section ?? {}) as Record<string, unknown>;
  return Object.fromEntries(SERVER_OPTIONS.map((name) => [name, settings[name] ?? null]));
}
