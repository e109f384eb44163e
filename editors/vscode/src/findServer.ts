// Looks for a server in four places, in order: each place is one file of serverLocators/.

import type { Run } from "./run";
import type { ServerProgram } from "./serverProgram";
import type { Bundle } from "./setup/bundle";
import { fromActivePython } from "./serverLocators/activePython";
import { fromPath } from "./serverLocators/path";
import { fromPrivateEnvironment } from "./serverLocators/privateEnvironment";
import { fromSetting } from "./serverLocators/setting";

export interface Surroundings {
  run: Run;
  bundle: Bundle;
  /** Folder of the private environment. */
  storage: string;
  serverCommand: readonly string[];
  isTrusted: boolean;
  /** PATH, without the folders whose programs must not be run. */
  path: string;
  /** Absolute path of the active environment's interpreter. */
  activePython: () => Promise<string | null>;
}

/** Return the server to start; null: there is none, but one can be set up. */
export async function findServer(at: Surroundings): Promise<ServerProgram | null> {
  const { run, bundle } = at;
  return (
    fromSetting(at.serverCommand) ??
    (at.isTrusted ? await fromActivePython(run, at.activePython, bundle.version) : null) ??
    (await fromPath(run, at.path, bundle.version)) ??
    (await fromPrivateEnvironment(at.storage, bundle))
  );
}
