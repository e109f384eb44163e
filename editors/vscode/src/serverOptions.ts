// The settings that the server knows, of all that stand under `intarsia`; its names are the same.

export const SERVER_OPTIONS = [
  "enabled",
  "preload",
  "model",
  "settle",
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

/** Return what the server is told when it asks for the section `intarsia`. */
export function serverOptions(section: unknown): Record<string, unknown> {
  const settings = (section ?? {}) as Record<string, unknown>;
  return Object.fromEntries(SERVER_OPTIONS.map((name) => [name, settings[name] ?? null]));
}
