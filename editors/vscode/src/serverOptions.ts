// The settings under `intarsia` that the server takes, under the same names.

export const SERVER_OPTIONS = [
  "enabled",
  "preload",
  "model",
  "decoding",
  "readAhead",
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

const DEFAULT_DECODING = "speculative";

/** Return the server's answer when it asks for the section `intarsia`. */
export function serverOptions(section: unknown): Record<string, unknown> {
  const settings = (section ?? {}) as Record<string, unknown>;
  const options = Object.fromEntries(SERVER_OPTIONS.map((name) => [name, settings[name] ?? null]));
  const { settle, decoding = DEFAULT_DECODING } = settings;
  if (typeof settle !== "string" || decoding !== DEFAULT_DECODING) {
    return options;
  }
  // `settle` is the old name of `decoding`, whose default would hide it. Until 0.2.0.
  return { ...options, decoding: null, settle };
}
