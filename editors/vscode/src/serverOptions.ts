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
  "keepContexts",
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
  "exclude",
  "excludeSecrets",
  "drafts",
  "sureConfidence",
  "previewEdits",
  "holeMarks",
  "rewriteNoise",
  "repositoryTuning",
] as const;

/**
 * Return the server's answer when it asks for the section `intarsia`.
 *
 * `isDecodingSet`: the user has set `decoding`, so the old `settle` does not count.
 */
export function serverOptions(section: unknown, isDecodingSet: boolean): Record<string, unknown> {
  const settings = (section ?? {}) as Record<string, unknown>;
  const options = Object.fromEntries(SERVER_OPTIONS.map((name) => [name, settings[name] ?? null]));
  const { settle } = settings;
  if (typeof settle !== "string" || isDecodingSet) {
    return options;
  }
  // `settle` is the old name of `decoding`, whose default would hide it. Until 0.2.0.
  return { ...options, decoding: null, settle };
}
