// Second place: the active Python environment, if it has exactly the extension's version.

import type { Run } from "../run";
import { programOfPython, type ServerProgram } from "../serverProgram";
import { versionInPython } from "../versions";

export async function fromActivePython(
  run: Run,
  activePython: () => Promise<string | null>,
  pinned: string,
): Promise<ServerProgram | null> {
  const python = await activePython();
  if (python === null || (await versionInPython(run, python)) !== pinned) {
    return null;
  }
  return programOfPython(python, "the active Python environment");
}
