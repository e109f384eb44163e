// The four stations at which a server is looked for, in order.

import type { Run } from "./run";
import type { ServerProgram } from "./serverProgram";
import type { Bundle } from "./setup/bundle";
import { fromActivePython } from "./stations/activePython";
import { fromPath } from "./stations/path";
import { fromPrivateEnvironment } from "./stations/privateEnvironment";
import { fromSetting } from "./stations/setting";

export interface Surroundings {
  run: Run;
  bundle: Bundle;
  /** Folder of the private environment. */
  storage: string;
  serverCommand: readonly string[];
  isTrusted: boolean;
  /** PATH, without what is not to be run. */
  path: string;
  /** Absolute path of the active environment's interpreter. */
  activePython: () => Promise<string | null>;
}

/** Return the server to start; null: none is there yet, one can be set up. */
export async function findServer(at: Surroundings): Promise<ServerProgram | null> {
  const { run, bundle } = at;
  return (
    fromSetting(at.serverCommand) ??
    (at.isTrusted ? await fromActivePython(run, at.activePython, bundle.version) : null) ??
    (await fromPath(run, at.path, bundle.version)) ??
    (await fromPrivateEnvironment(at.storage, bundle))
  );
}
