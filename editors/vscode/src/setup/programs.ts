// Finds a Python that is new enough for a set-up, and says why a set-up has ended.

import { delimiter } from "node:path";
import { l10n } from "vscode";
import type { Finished, Run, RunOptions } from "../run";

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

/** Return the current PATH for looking up programs. */
export function currentPath(): string {
  return process.env.PATH ?? ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
}
