// Makes the private environment: uv, torch, the server's wheel, a look whether it runs, the mark.

import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Finished, Run } from "../run";
import { programOfPython } from "../serverProgram";
import { environmentFolder, markWhole, pythonOf } from "../stations/privateEnvironment";
import { versionOfProgram } from "../versions";
import type { Bundle } from "./bundle";
import { withLock } from "./lock";
import { uvSettingsFromPip } from "./pipSettings";
import { findPython } from "./python";
import { lastLine, SetUpCancelled, SetUpFailed } from "./setUpFailed";
import { findUv } from "./uv";

const CPU_WHEELS = "https://download.pytorch.org/whl/cpu/torch/";

export interface Installation {
  run: Run;
  bundle: Bundle;
  storage: string;
  path: string;
  env: NodeJS.ProcessEnv;
  /** Take torch's CPU wheels from their own index, if it answers. */
  usesCpuIndex: boolean;
  signal: AbortSignal;
  report: (message: string) => void;
  log: (line: string) => void;
}

/** Make the environment anew. Throws SetUpFailed with one line for the user, or SetUpCancelled. */
export async function install(order: Installation): Promise<void> {
  const { bundle, storage } = order;
  await mkdir(storage, { recursive: true });
  await withLock(join(storage, "set-up.lock"), async () => {
    const folder = environmentFolder(storage, bundle);
    await rm(folder, { recursive: true, force: true });
    await fill(folder, order).catch((error: unknown) => {
      throw order.signal.aborted ? new SetUpCancelled() : error;
    });
    await markWhole(folder, bundle);
    await removeOthers(join(storage, "server"), folder);
  });
}

async function fill(folder: string, order: Installation): Promise<void> {
  const { run, bundle, storage, signal } = order;
  order.report("looking for Python and uv");
  const options = { cwd: storage, env: order.env, signal };
  const python = await findPython(run, options);
  const [uv, fromPip, hasCpuIndex] = await Promise.all([
    findUv(run, python, storage, order.path, options),
    python === null ? {} : uvSettingsFromPip(run, python, storage, order.env),
    order.usesCpuIndex && python !== null && answers(CPU_WHEELS, run, python, order.env),
  ]);
  const env = { ...order.env, ...fromPip, UV_NO_PROGRESS: "1" };

  /** Run uv with the first of these words that works. */
  const uvDoes = async (what: string, ...ways: readonly string[][]): Promise<void> => {
    let last: Finished | null = null;
    for (const words of ways) {
      order.report(what);
      order.log(`> ${uv} ${words.join(" ")}`);
      const onLine = (line: string) => {
        order.log(line);
        order.report(`${what}: ${line.trim()}`);
      };
      last = await run(uv, words, { cwd: storage, env, signal, onLine });
      if (last.code === 0) {
        return;
      }
      signal.throwIfAborted();
    }
    throw new SetUpFailed(`${what} failed: ${last === null ? "" : lastLine(last)}`);
  };

  const pip = ["pip", "install", "--python", pythonOf(folder)];
  // The tested versions first. A mirror may not have them; the supported ranges do as well.
  const tested = [...pip, "--constraints", bundle.constraints];
  const cpu = hasCpuIndex ? ["--torch-backend", "cpu"] : [];

  await uvDoes("making the environment", [
    "venv",
    "--no-project",
    "--seed", // the server fetches wheels of the model by pip
    "--python",
    python ?? ">=3.11",
    folder,
  ]);
  await uvDoes("fetching torch", [...tested, ...cpu, bundle.torch], [...pip, bundle.torch]);
  await uvDoes("fetching packages", [...tested, bundle.wheel], [...pip, bundle.wheel]);

  order.report("starting it once");
  const { command, args } = programOfPython(pythonOf(folder), "");
  if ((await versionOfProgram(run, command, args)) !== bundle.version) {
    throw new SetUpFailed("the installed server does not run: see the log");
  }
}

/** Whether an address answers within seconds, by way of the user's proxies. */
async function answers(
  address: string,
  run: Run,
  python: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const program = `import urllib.request as u; u.urlopen("${address}", timeout=5)`;
  return (await run(python, ["-P", "-c", program], { env, timeoutMs: 10_000 })).code === 0;
}

/** Remove environments of other versions; one that is still in use somewhere may stay. */
async function removeOthers(parent: string, kept: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (folder !== kept) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
