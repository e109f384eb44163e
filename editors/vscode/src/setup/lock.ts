// Allows one set-up at a time among all windows: the lock is a folder with the holder's process id.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SetupError } from "./setupError";

/** Run `act` while holding the lock. Throws SetupError when another running process holds it. */
export async function withLock<T>(folder: string, act: () => Promise<T>): Promise<T> {
  await mkdir(dirname(folder), { recursive: true });
  if (!(await take(folder))) {
    if (await isHeldByRunning(folder)) {
      throw new SetupError("another window is setting up the server: wait for it, then reload");
    }
    await rm(folder, { recursive: true, force: true });
    if (!(await take(folder))) {
      throw new SetupError("another window is setting up the server: wait for it, then reload");
    }
  }
  try {
    return await act();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function take(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
  } catch {
    return false;
  }
  await writeFile(join(folder, "process"), String(process.pid));
  return true;
}

async function isHeldByRunning(folder: string): Promise<boolean> {
  try {
    process.kill(Number(await readFile(join(folder, "process"), "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}
