// Looks for a server in four places, in order: the user's setting, the active Python environment,
// the PATH, and the extension's own environment.

import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, relative } from "node:path";
import { extensions, l10n, window, workspace } from "vscode";
import type { Run } from "./run";
import { type Bundle, fromPrivateEnvironment } from "./setup/privateEnvironment";

/** A located server: the command lines for it and for the program's other subcommands. */
export interface ServerProgram {
  command: string;
  /** Arguments before the subcommand. */
  args: readonly string[];
  /** Arguments after `serve`. */
  serveArgs: readonly string[];
  /** Where it was found, for the user. */
  origin: string;
}

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
  return (
    fromSetting(at.serverCommand) ??
    (at.isTrusted ? await fromActivePython(at) : null) ??
    (await fromPath(at)) ??
    (await fromPrivateEnvironment(at.storage, at.bundle))
  );
}

/** Return the program of a Python environment. `-P`: nothing is imported from the working folder. */
export function programOfPython(python: string, origin: string): ServerProgram {
  return { command: python, args: ["-P", "-m", "intarsia.cli"], serveArgs: [], origin };
}

export function argsOf(program: ServerProgram, ...words: string[]): string[] {
  const rest = words[0] === "serve" ? program.serveArgs : [];
  return [...program.args, ...words, ...rest];
}

/** Split `["…/intarsia", "serve", "--debug"]` at `serve`, so that `doctor` can be run too. */
function fromSetting([command, ...args]: readonly string[]): ServerProgram | null {
  if (command === undefined) {
    return null;
  }
  const at = args.indexOf("serve");
  const before = at === -1 ? args : args.slice(0, at);
  const after = at === -1 ? [] : args.slice(at + 1);
  const origin = l10n.t("the setting intarsia.serverCommand");
  return { command, args: before, serveArgs: after, origin };
}

/** Return the server of the active Python environment, if it has exactly the extension's version. */
async function fromActivePython(at: Surroundings): Promise<ServerProgram | null> {
  const python = await at.activePython();
  if (python === null) {
    return null;
  }
  const print = "import importlib.metadata as m; print(m.version('intarsia'))";
  const { code, stdout } = await at.run(python, ["-P", "-c", print], { timeoutMs: 10_000 });
  return code === 0 && stdout.trim() === at.bundle.version
    ? programOfPython(python, l10n.t("the active Python environment"))
    : null;
}

/** Return `intarsia` on the PATH, in a version that fits. */
async function fromPath({ run, path, bundle }: Surroundings): Promise<ServerProgram | null> {
  for (const program of await programsOnPath("intarsia", path)) {
    const version = await versionOfProgram(run, program);
    if (version !== null && fits(version, bundle.version)) {
      const origin = l10n.t("intarsia on the PATH");
      return { command: program, args: [], serveArgs: [], origin };
    }
  }
  return null;
}

interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: unknown): { path: string };
    resolveEnvironment(path: {
      path: string;
    }): Promise<{ executable: { uri?: { fsPath: string } } } | undefined>;
  };
}

/**
 * Return the path of the interpreter that is active in the Python extension. That is not started
 * unless a Python file is open.
 */
export async function activePython(): Promise<string | null> {
  const extension = extensions.getExtension<PythonApi>("ms-python.python");
  const isPython = window.activeTextEditor?.document.languageId === "python";
  if (extension === undefined || !(extension.isActive || isPython)) {
    return null;
  }
  try {
    const { environments } = await extension.activate();
    const active = environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
    return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath ?? null;
  } catch {
    return null;
  }
}

/** Return the absolute paths of executable programs of this name, in the PATH's order. */
export async function programsOnPath(name: string, path: string): Promise<string[]> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  const programs = [...new Set(folders)].map((folder) => join(folder, file));
  const canRun = await Promise.all(
    programs.map((program) =>
      access(program, constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return programs.filter((_, index) => canRun[index]);
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
function fits(found: string, pinned: string): boolean {
  const [major, minor, patch = NaN] = found.split(".").map((part) => Number.parseInt(part, 10));
  const [pinnedMajor, pinnedMinor, pinnedPatch = NaN] = pinned.split(".").map(Number);
  return major === pinnedMajor && minor === pinnedMinor && patch >= pinnedPatch;
}
