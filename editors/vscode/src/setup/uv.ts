// Finds uv, or puts it into a small environment of its own.

import { delimiter, dirname, join } from "node:path";
import type { Run, RunOptions } from "../run";
import { programsOnPath } from "../stations/path";
import { pythonOf } from "../stations/privateEnvironment";
import { lastLine, SetUpFailed } from "./setUpFailed";

/** Return the path of uv: the user's, else one that is installed into `storage` with pip. */
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
  const own = join(dirname(pythonOf(folder)), process.platform === "win32" ? "uv.exe" : "uv");
  if ((await run(own, ["--version"], options)).code === 0) {
    return own;
  }
  if (python === null) {
    throw new SetUpFailed(
      "no Python 3.11 or newer was found: install one from python.org (Debian: apt-get install python3 python3-venv), or uv from docs.astral.sh/uv",
    );
  }
  const made = await run(python, ["-m", "venv", "--clear", folder], options);
  if (made.code !== 0) {
    throw new SetUpFailed(
      `${python} cannot make an environment (on Debian: apt-get install python3-venv): ${lastLine(made)}`,
    );
  }
  const pip = ["-m", "pip", "install", "--quiet", "uv"];
  const installed = await run(pythonOf(folder), pip, options);
  if (installed.code !== 0) {
    throw new SetUpFailed(`uv could not be installed: ${lastLine(installed)}`);
  }
  return own;
}

/** PATH as programs are looked up in, at this moment. */
export function currentPath(): string {
  return process.env.PATH ?? ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
}
