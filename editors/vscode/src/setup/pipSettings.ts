// Translates pip's package sources for uv, which does not read pip's settings.

import type { Run } from "../run";

const NAMES: Readonly<Record<string, string>> = {
  "index-url": "UV_DEFAULT_INDEX",
  "extra-index-url": "UV_INDEX",
  "find-links": "UV_FIND_LINKS",
  cert: "SSL_CERT_FILE",
};

/** Variables that take several values, and the separator between these. */
const SEPARATORS: Readonly<Record<string, string>> = { UV_INDEX: " ", UV_FIND_LINKS: "," };

/** Return variables for uv from pip's files and PIP_*; those that the user has set are left out. */
export async function uvSettingsFromPip(
  run: Run,
  python: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const { code, stdout } = await run(python, ["-P", "-m", "pip", "config", "list"], {
    cwd,
    env,
    timeoutMs: 20_000,
  });
  const settings = code === 0 ? translate(stdout) : {};
  return Object.fromEntries(Object.entries(settings).filter(([name]) => env[name] === undefined));
}

/** Translate lines like `global.find-links='/wheels'`; PIP_* (`:env:`) take precedence over files. */
export function translate(list: string): Record<string, string> {
  const lines = list
    .split(/\r?\n/)
    .sort((a, b) => Number(b.startsWith(":env:")) - Number(a.startsWith(":env:")));
  const settings: Record<string, string> = {};
  for (const line of lines) {
    const match = /^(?::env:|global|site|user|install)\.([\w-]+)='(.*)'$/.exec(line.trim());
    const name = match?.[1] === undefined ? undefined : NAMES[match[1]];
    const value = match?.[2];
    if (name !== undefined && value !== undefined && settings[name] === undefined) {
      const words = value
        .replaceAll("\\n", " ")
        .split(/\s+/)
        .filter((word) => word !== "");
      settings[name] = words.join(SEPARATORS[name] ?? " ");
    }
  }
  if (settings.UV_INDEX !== undefined) {
    // pip takes the best version of all indexes; uv by default only of the first that has the package.
    settings.UV_INDEX_STRATEGY = "unsafe-best-match";
  }
  return settings;
}
