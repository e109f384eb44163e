// The server's versions, and whether one fits the extension's.

import type { Run } from "./run";

/** Return the version of intarsia in a Python environment; null: it has none. */
export async function versionInPython(run: Run, python: string): Promise<string | null> {
  const program = "import importlib.metadata as m; print(m.version('intarsia'))";
  const { code, stdout } = await run(python, ["-P", "-c", program], { timeoutMs: 10_000 });
  return code === 0 ? stdout.trim() : null;
}

/** Return the version of a program of intarsia; null: it does not run. */
export async function versionOfProgram(
  run: Run,
  program: string,
  args: readonly string[] = [],
): Promise<string | null> {
  const { code, stdout } = await run(program, [...args, "--version"], { timeoutMs: 20_000 });
  return code === 0 ? (/(\d+\.\d+\.\d+\S*)\s*$/.exec(stdout)?.[1] ?? null) : null;
}

/** Whether a server fits: the same minor version, and a patch version at least as high. */
export function fits(found: string, pinned: string): boolean {
  const [major, minor, patch] = numbers(found);
  const [pinnedMajor, pinnedMinor, pinnedPatch] = numbers(pinned);
  return major === pinnedMajor && minor === pinnedMinor && patch >= pinnedPatch;
}

function numbers(version: string): [number, number, number] {
  const [major = NaN, minor = NaN, patch = NaN] = version
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  return [major, minor, patch];
}
