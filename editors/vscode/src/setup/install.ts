// Makes the private environment: installs the server with pip, checks that it runs, marks it.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { l10n } from "vscode";
import type { Finished, Run } from "../run";
import { programOfPython, programsOnPath, versionOfProgram } from "../findServer";
import { type Bundle, environmentFolder, markComplete, pythonOf } from "./privateEnvironment";
import { findPython, lastLine, SetupCancelled, SetupError } from "./programs";

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
    await populate(folder, options).catch((error: unknown) => {
      throw options.signal.aborted ? new SetupCancelled() : error;
    });
    await markComplete(folder, bundle);
    await removeOthers(join(storage, "server"), folder);
  });
}

/** Runs a program, and shows its lines. */
type Show = (step: string, program: string, ...args: string[]) => Promise<Finished>;

async function populate(folder: string, options: Installation): Promise<void> {
  const { run, bundle, signal } = options;
  const runOptions = { cwd: options.storage, env: withSourcesOfUv(options.env), signal };
  const show: Show = async (step, program, ...args) => {
    options.report(step);
    options.log(`> ${program} ${args.join(" ")}`);
    const onLine = (line: string) => {
      options.log(line);
      options.report(`${step}: ${line.trim()}`);
    };
    const finished = await run(program, args, { ...runOptions, onLine });
    signal.throwIfAborted();
    return finished;
  };
  options.report(l10n.t("looking for Python and uv"));
  const python = await findPython(run, runOptions);
  const [uv] = await programsOnPath("uv", options.path);
  await makeEnvironment(folder, python, uv, show);
  await fetchServer(pythonOf(folder), bundle, show);
  options.report(l10n.t("checking that it starts"));
  const { command, args } = programOfPython(pythonOf(folder), "");
  if ((await versionOfProgram(run, command, args)) !== bundle.version) {
    throw new SetupError(l10n.t("the installed server does not run: see the log"));
  }
}

/** Make an empty environment: by Python's own module, else by uv, which fetches a Python if need be. */
async function makeEnvironment(
  folder: string,
  python: string | null,
  uv: string | undefined,
  show: Show,
): Promise<void> {
  const step = l10n.t("making the environment");
  const makers = [
    ...(python === null ? [] : [[python, "-P", "-m", "venv"]]),
    ...(uv === undefined ? [] : [[uv, "venv", "--no-project", "--seed", "--python", ">=3.11"]]),
  ];
  let fault = l10n.t(
    "no Python 3.11 or newer was found: install one from python.org (Debian: apt-get install python3 python3-venv), or uv from docs.astral.sh/uv",
  );
  for (const [program = "", ...args] of makers) {
    await rm(folder, { recursive: true, force: true });
    const made = await show(step, program, ...args, folder);
    if (made.code === 0) {
      return;
    }
    fault = l10n.t(
      "{0} cannot make an environment (on Debian: apt-get install python3-venv): {1}",
      program,
      lastLine(made),
    );
  }
  throw new SetupError(fault);
}

/** Install the tested versions, by their hashes; where a mirror lacks one, what else is supported. */
async function fetchServer(python: string, bundle: Bundle, show: Show): Promise<void> {
  const step = l10n.t("downloading packages");
  const pip = ["-P", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"];
  const tested = ["--no-deps", "--require-hashes", "--requirement", bundle.constraints];
  const { stderr } = await show(step, python, ...pip, ...tested);
  const mismatch = /.*DO NOT MATCH THE HASHES.*/.exec(stderr);
  if (mismatch !== null) {
    throw new SetupError(l10n.t("{0} failed: {1}", step, mismatch[0]));
  }
  const fetched = await show(step, python, ...pip, bundle.wheel);
  if (fetched.code !== 0) {
    throw new SetupError(l10n.t("{0} failed: {1}", step, lastLine(fetched)));
  }
}

/** pip's variables for those of uv, by which a user may have named other sources of packages. */
const OF_UV: Readonly<Record<string, string>> = {
  UV_DEFAULT_INDEX: "PIP_INDEX_URL",
  UV_INDEX: "PIP_EXTRA_INDEX_URL",
  UV_FIND_LINKS: "PIP_FIND_LINKS",
};

/** Return the variables with pip's for those that are set for uv; the user's own stay. */
export function withSourcesOfUv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const all = { ...env };
  for (const [uv, pip] of Object.entries(OF_UV)) {
    all[pip] ??= env[uv]
      ?.split(/[\s,]+/)
      .map((place) => place.replace(/^[\w-]+=/, "")) // uv lets an index have a name
      .join(" ");
  }
  return all;
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
