// Finds a Python that is new enough for the private environment.

import type { Run, RunOptions } from "../run";

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
