// One set-up at a time among all windows: a folder that only one can make, named after its process.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SetUpFailed } from "./setUpFailed";

/** Run `act` while holding the lock. Throws SetUpFailed when another living process holds it. */
export async function withLock<T>(folder: string, act: () => Promise<T>): Promise<T> {
  await mkdir(dirname(folder), { recursive: true });
  if (!(await take(folder))) {
    if (await isHeldByLiving(folder)) {
      throw new SetUpFailed("another window is setting the server up: wait for it, then reload");
    }
    await rm(folder, { recursive: true, force: true });
    if (!(await take(folder))) {
      throw new SetUpFailed("another window is setting the server up: wait for it, then reload");
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

async function isHeldByLiving(folder: string): Promise<boolean> {
  try {
    process.kill(Number(await readFile(join(folder, "process"), "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}
