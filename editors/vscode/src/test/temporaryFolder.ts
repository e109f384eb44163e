// Folders of a test file, which are removed at its end.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

const made: string[] = [];
after(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "intarsia-test-"));
  made.push(folder);
  return folder;
}
