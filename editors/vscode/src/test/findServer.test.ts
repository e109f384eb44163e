import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { findServer, pathWithout, type Surroundings } from "../findServer";
import type { Run } from "../run";
import { environmentFolder, markComplete } from "../setup/privateEnvironment";
import { BUNDLE, temporaryFolder } from "./fixtures";

const nothing: Run = async () => ({ code: 1, stdout: "", stderr: "" });

async function surroundings(changes: Partial<Surroundings> = {}): Promise<Surroundings> {
  return {
    run: nothing,
    bundle: BUNDLE,
    storage: await temporaryFolder(),
    serverCommand: [],
    isTrusted: true,
    path: await temporaryFolder(),
    activePython: async () => null,
    ...changes,
  };
}

/** A runner for which each of these programs prints a version. */
function withVersions(versions: Readonly<Record<string, string>>): Run {
  return async (command) => {
    const version = versions[command];
    return version === undefined
      ? { code: 1, stdout: "", stderr: "no such module" }
      : { code: 0, stdout: `${version}\n`, stderr: "" };
  };
}

async function folderWithProgram(parent?: string): Promise<{ folder: string; program: string }> {
  const folder = parent ?? (await temporaryFolder());
  await mkdir(folder, { recursive: true });
  const program = join(folder, process.platform === "win32" ? "intarsia.exe" : "intarsia");
  await writeFile(program, "");
  await chmod(program, 0o755);
  return { folder, program };
}

async function withPrivateEnvironment(): Promise<{ storage: string; folder: string }> {
  const storage = await temporaryFolder();
  const folder = environmentFolder(storage, BUNDLE);
  await mkdir(folder, { recursive: true });
  return { storage, folder };
}

test("the setting goes before everything, and is not asked for its version", async () => {
  const { folder, program } = await folderWithProgram();
  const found = await findServer(
    await surroundings({
      serverCommand: ["/opt/intarsia", "--flag", "serve", "--debug"],
      activePython: async () => "/env/bin/python",
      path: folder,
      run: withVersions({ "/env/bin/python": "0.3.1", [program]: "intarsia 0.3.1" }),
    }),
  );
  assert.equal(found?.command, "/opt/intarsia");
  assert.deepEqual(found?.args, ["--flag"]);
  assert.deepEqual(found?.serveArgs, ["--debug"]);
});

test("the active Python environment goes before the PATH", async () => {
  const { folder, program } = await folderWithProgram();
  const found = await findServer(
    await surroundings({
      activePython: async () => "/env/bin/python",
      path: folder,
      run: withVersions({ "/env/bin/python": "0.3.1", [program]: "intarsia 0.3.1" }),
    }),
  );
  assert.equal(found?.command, "/env/bin/python");
  assert.ok(found?.args.includes("-P"), "the working folder must not be imported from");
});

test("an active Python environment with another version is passed by", async () => {
  const { folder, program } = await folderWithProgram();
  const found = await findServer(
    await surroundings({
      activePython: async () => "/env/bin/python",
      path: folder,
      run: withVersions({ "/env/bin/python": "0.3.2", [program]: "intarsia 0.3.1" }),
    }),
  );
  assert.equal(found?.command, program);
});

test("an untrusted workspace's Python environment is not even asked for", async () => {
  const found = await findServer(
    await surroundings({
      isTrusted: false,
      activePython: () => assert.fail("it was asked for"),
    }),
  );
  assert.equal(found, null);
});

test("a program inside an untrusted workspace is not run, the next one on the PATH is", async () => {
  const workspace = await temporaryFolder();
  const inside = await folderWithProgram(join(workspace, ".venv", "bin"));
  const outside = await folderWithProgram();
  const asked: string[] = [];
  const run: Run = async (command) => {
    asked.push(command);
    return { code: 0, stdout: "intarsia 0.3.1\n", stderr: "" };
  };
  const path = [inside.folder, outside.folder].join(delimiter);
  const safe = pathWithout(path, [workspace]);
  assert.equal(
    (await findServer(await surroundings({ run, path: safe })))?.command,
    outside.program,
  );
  assert.deepEqual(asked, [outside.program]);
  assert.equal((await findServer(await surroundings({ run, path })))?.command, inside.program);
});

test("folders of the PATH that are not absolute are not looked into", async () => {
  const { folder } = await folderWithProgram();
  const here = process.cwd();
  process.chdir(folder);
  try {
    const run = withVersions({ intarsia: "0.3.1", "./intarsia": "0.3.1" });
    assert.equal(await findServer(await surroundings({ run, path: `.${delimiter}` })), null);
  } finally {
    process.chdir(here);
  }
});

test("only the same version and later patches of its minor version fit on the PATH", async () => {
  const { folder, program } = await folderWithProgram();
  const find = async (printed: string) =>
    findServer(await surroundings({ run: withVersions({ [program]: printed }), path: folder }));
  for (const version of ["0.3.1", "0.3.12"]) {
    assert.equal((await find(`intarsia ${version}`))?.command, program, version);
  }
  for (const version of ["0.3.0", "0.2.9", "0.4.0", "0.4.1", "1.3.1", "nonsense", ""]) {
    assert.equal(await find(`intarsia ${version}`), null, version);
  }
  assert.equal(await find("usage: another program"), null);
});

test("a private environment counts once its mark is written", async () => {
  const { storage, folder } = await withPrivateEnvironment();
  const at = await surroundings({ storage });
  assert.equal(await findServer(at), null);
  await markComplete(folder, BUNDLE);
  const found = await findServer(at);
  assert.ok(found?.command.startsWith(folder));
});

test("a private environment of another build of the server does not count", async () => {
  const { storage, folder } = await withPrivateEnvironment();
  await markComplete(folder, { ...BUNDLE, sha256: "cd".repeat(32) });
  assert.equal(await findServer(await surroundings({ storage })), null);
});
