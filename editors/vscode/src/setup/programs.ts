// Finds the programs that a set-up needs: a Python that is new enough, and uv, which is installed
// into a small environment of its own where it is missing.

import { delimiter, dirname, join } from "node:path";
import { l10n } from "vscode";
import { programsOnPath } from "../findServer";
import type { Finished, Run, RunOptions } from "../run";
import { pythonOf } from "./privateEnvironment";

const CANDIDATES =
  process.platform === "win32"
    ? ["python", "py"]
    : ["python3.13", "python3.12", "python3.11", "python3.14", "python3", "python"];

const PROGRAM = "import sys; print(sys.executable) if sys.version_info >= (3, 11) else sys.exit(1)";

/** Return the path of the first Python 3.11 or newer; null: there is none. */
export async function findPython(run: Run, options: RunOptions): Promise<string | null> {
  for (const candidate of CANDIDATES) {
    const { code, stdout } = await run(candidate, ["-P", "-c", PROGRAM], {
      ...options,
      timeoutMs: 10_000,
    });
    if (code === 0 && stdout.trim() !== "") {
      return stdout.trim();
    }
  }
  return null;
}

/** Why a set-up ended: one line on what failed and what to do. */
export class SetupError extends Error {}

export class SetupCancelled extends Error {}

/** Return the line of a program's output that tells what went wrong. */
export function lastLine({ stdout, stderr }: Finished): string {
  const lines = `${stdout}\n${stderr}`.split(/\r?\n/).filter((line) => line.trim() !== "");
  const errorLine = lines.findLast((line) => /error|×|╰─▶/i.test(line));
  return (errorLine ?? lines.at(-1) ?? l10n.t("no reason was given")).trim();
}

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
      l10n.t(
        "no Python 3.11 or newer was found: install one from python.org (Debian: apt-get install python3 python3-venv), or uv from docs.astral.sh/uv",
      ),
    );
  }
  const made = await run(python, ["-m", "venv", "--clear", folder], options);
  if (made.code !== 0) {
    throw new SetupError(
      l10n.t(
        "{0} cannot make an environment (on Debian: apt-get install python3-venv): {1}",
        python,
        lastLine(made),
      ),
    );
  }
  const pip = ["-m", "pip", "install", "--quiet", "uv"];
  const finished = await run(pythonOf(folder), pip, options);
  if (finished.code !== 0) {
    throw new SetupError(l10n.t("uv could not be installed: {0}", lastLine(finished)));
  }
  return installed;
}

/** Return the current PATH for looking up programs. */
export function currentPath(): string {
  return process.env.PATH ?? ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
}
