// The server that comes with the extension, and the extension's own environment of Python for it. That
// is complete only with the mark written last.

import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { l10n } from "vscode";
import { programOfPython, type ServerProgram } from "../findServer";

const MARK = "intarsia-ready.json";

/** The server as written by scripts/wheel.mjs. */
export interface Bundle {
  version: string;
  /** Absolute path of the wheel. */
  wheel: string;
  sha256: string;
  /** Absolute path of the versions that the server is tested with, each with its files' hashes. */
  constraints: string;
}

/** `server/bundle.json`; it names files without their folder. */
type Manifest = Pick<Bundle, "version" | "wheel" | "sha256">;

export function readBundle(extensionFolder: string): Bundle {
  const folder = join(extensionFolder, "server");
  const manifest = JSON.parse(readFileSync(join(folder, "bundle.json"), "utf8")) as Manifest;
  return {
    ...manifest,
    wheel: join(folder, manifest.wheel),
    constraints: join(folder, "requirements.hashed.lock"),
  };
}

/** Return the folder of the environment for exactly this build of the server. */
export function environmentFolder(storage: string, bundle: Bundle): string {
  return join(storage, "server", `${bundle.version}-${bundle.sha256.slice(0, 12)}`);
}

export function pythonOf(folder: string): string {
  return process.platform === "win32"
    ? join(folder, "Scripts", "python.exe")
    : join(folder, "bin", "python");
}

export async function fromPrivateEnvironment(
  storage: string,
  bundle: Bundle,
): Promise<ServerProgram | null> {
  const folder = environmentFolder(storage, bundle);
  try {
    const mark = JSON.parse(await readFile(join(folder, MARK), "utf8")) as { sha256?: string };
    if (mark.sha256 !== bundle.sha256) {
      return null;
    }
  } catch {
    return null;
  }
  return programOfPython(pythonOf(folder), l10n.t("the extension's own environment"));
}

/** Whether the extension has made an environment here before, of any version. */
export async function hasAnyEnvironment(storage: string): Promise<boolean> {
  const parent = join(storage, "server");
  const names = await readdir(parent).catch(() => []);
  return names.some((name) => existsSync(join(parent, name, MARK)));
}

/** Mark the environment as complete. */
export async function markComplete(folder: string, bundle: Bundle): Promise<void> {
  await writeFile(join(folder, MARK), JSON.stringify({ sha256: bundle.sha256 }));
}
