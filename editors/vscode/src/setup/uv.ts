// Finds uv, or installs it into a small environment of its own.

import { delimiter, dirname, join } from "node:path";
import type { Run, RunOptions } from "../run";
import { programsOnPath } from "../serverLocators/path";
import { pythonOf } from "../serverLocators/privateEnvironment";
import { lastLine, SetupError } from "./setupError";

/** Return the path of uv: the user's, else one that pip installs into `storage`. */
export async function findUv(
  run: Run,
  python: string | null,
  storage: string,
  path: string,
  options: RunOptions,
): Promise<string> {
  const [onPath] = await programsOnPath("uv", path);
  if (onPath !== undefined) {
    return onPath;
  }
  const folder = join(storage, "uv");
  const installed = join(dirname(pythonOf(folder)), process.platform === "win32" ? "uv.exe" : "uv");
  if ((await run(installed, ["--version"], options)).code === 0) {
    return installed;
  }
  if (python === null) {
    throw new SetupError(
      "no Python 3.11 or newer was found: install one from python.org (Debian: apt-get install python3 python3-venv), or uv from docs.astral.sh/uv",
    );
  }
  const made = await run(python, ["-m", "venv", "--clear", folder], options);
  if (made.code !== 0) {
    throw new SetupError(
      `${python} cannot make an environment (on Debian: apt-get install python3-venv): ${lastLine(made)}`,
    );
  }
  const pip = ["-m", "pip", "install", "--quiet", "uv"];
  const finished = await run(pythonOf(folder), pip, options);
  if (finished.code !== 0) {
    throw new SetupError(`uv could not be installed: ${lastLine(finished)}`);
  }
  return installed;
}

/** Return the current PATH for looking up programs. */
export function currentPath(): string {
  return process.env.PATH ?? ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
}
