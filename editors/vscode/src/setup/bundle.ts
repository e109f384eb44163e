// The server that comes with the extension, as written by scripts/wheel.mjs.

import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Bundle {
  version: string;
  /** Absolute path of the wheel. */
  wheel: string;
  sha256: string;
  /** Absolute path of the versions that the server is tested with, each with its files' hashes. */
  constraints: string;
  /** Requirement of torch, for example `torch==2.13.0`. */
  torch: string;
}

/** `server/bundle.json`; it names files without their folder. */
type Manifest = Pick<Bundle, "version" | "wheel" | "sha256" | "torch">;

export function readBundle(extensionFolder: string): Bundle {
  const folder = join(extensionFolder, "server");
  const manifest = JSON.parse(readFileSync(join(folder, "bundle.json"), "utf8")) as Manifest;
  return {
    ...manifest,
    wheel: join(folder, manifest.wheel),
    constraints: join(folder, "requirements.hashed.lock"),
  };
}
