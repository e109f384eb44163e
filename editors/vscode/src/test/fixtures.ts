// A server that comes with the extension, and folders of a test file, which are removed at its end.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

export const BUNDLE = {
  version: "0.3.1",
  wheel: "/bundle/intarsia.whl",
  sha256: "ab".repeat(32),
  constraints: "/bundle/requirements.hashed.lock",
};

const made: string[] = [];
after(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "intarsia-test-"));
  made.push(folder);
  return folder;
}
