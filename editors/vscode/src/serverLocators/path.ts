// Third place: `intarsia` on the PATH, in a version that fits.

import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, relative } from "node:path";
import type { Run } from "../run";
import type { ServerProgram } from "../serverProgram";
import { fits, versionOfProgram } from "../versions";

export async function fromPath(
  run: Run,
  path: string,
  pinned: string,
): Promise<ServerProgram | null> {
  for (const program of await programsOnPath("intarsia", path)) {
    const version = await versionOfProgram(run, program);
    if (version !== null && fits(version, pinned)) {
      return { command: program, args: [], serveArgs: [], origin: "intarsia on the PATH" };
    }
  }
  return null;
}

/** Return the absolute paths of executable programs of this name, in the PATH's order. */
export async function programsOnPath(name: string, path: string): Promise<string[]> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  const programs = [...new Set(folders)].map((folder) => join(folder, file));
  const found = await Promise.all(
    programs.map(async (program) => ((await canRun(program)) ? [program] : [])),
  );
  return found.flat();
}

/** Return the PATH without entries inside these folders, whose programs must not be run. */
export function pathWithout(path: string, forbidden: readonly string[]): string {
  return path
    .split(delimiter)
    .filter((place) => !forbidden.some((folder) => isInside(place, folder)))
    .join(delimiter);
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

async function canRun(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
