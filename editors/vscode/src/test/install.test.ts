import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Finished, Run } from "../run";
import { type Installation, install, withSourcesOfUv } from "../setup/install";
import {
  environmentFolder,
  fromPrivateEnvironment,
  hasAnyEnvironment,
  markComplete,
} from "../setup/privateEnvironment";
import { SetupCancelled, SetupError } from "../setup/programs";
import { BUNDLE, temporaryFolder } from "./fixtures";

const DONE: Finished = { code: 0, stdout: "", stderr: "" };
const FAILED: Finished = { code: 2, stdout: "", stderr: "error: no such package\n" };

/** A machine with a Python, on which everything works but what `changes` says. */
function machine(changes: (words: string) => Finished | null = () => null): {
  run: Run;
  ran: string[];
} {
  const ran: string[] = [];
  const run: Run = async (command, args) => {
    const words = [command, ...args].join(" ");
    ran.push(words);
    const other = changes(words);
    if (other !== null) {
      return other;
    }
    if (words.includes(" venv ")) {
      await mkdir(args.at(-1) ?? "", { recursive: true });
    }
    if (words.includes("sys.executable")) {
      return { ...DONE, stdout: "/usr/bin/python3.12\n" };
    }
    return words.endsWith("intarsia.cli --version")
      ? { ...DONE, stdout: "intarsia 0.3.1\n" }
      : DONE;
  };
  return { run, ran };
}

async function order(changes: Partial<Installation>): Promise<Installation> {
  return {
    run: machine().run,
    bundle: BUNDLE,
    storage: await temporaryFolder(),
    path: "",
    env: {},
    signal: new AbortController().signal,
    report: () => undefined,
    log: () => undefined,
    ...changes,
  };
}

test("an environment is whole once everything is in it", async () => {
  const { run, ran } = machine();
  const installation = await order({ run });
  await install(installation);
  assert.notEqual(await fromPrivateEnvironment(installation.storage, BUNDLE), null);
  const [tested, server, ...more] = ran.filter((words) => words.includes(" -m pip install "));
  assert.match(
    tested ?? "",
    / --no-deps --require-hashes --requirement \/bundle\/requirements\.hashed\.lock$/,
  );
  assert.match(server ?? "", / \/bundle\/intarsia\.whl$/);
  assert.deepEqual(more, []);
});

test("programs are looked up in the PATH that was given, away from opened folders", async () => {
  const places: { words: string; PATH: string | undefined; cwd: string | undefined }[] = [];
  const run: Run = (command, args, options) => {
    const words = [command, ...args].join(" ");
    places.push({ words, PATH: options?.env?.PATH, cwd: options?.cwd });
    return machine().run(command, args, options);
  };
  const installation = await order({ run, env: { PATH: "/trusted" } });
  await install(installation);
  const python = places.find(({ words }) => words.includes(" -m venv "));
  assert.match(python?.words ?? "", /^\S+ -P -m venv/);
  assert.equal(python?.cwd, installation.storage);
  const unsure = places.filter(({ words }) => !words.startsWith(installation.storage));
  assert.deepEqual([...new Set(unsure.map(({ PATH }) => PATH))], ["/trusted"]);
});

test("what the tested versions cannot give comes from the supported ranges", async () => {
  const { run, ran } = machine((words) => (words.includes("--require-hashes") ? FAILED : null));
  await install(await order({ run }));
  assert.ok(ran.some((words) => words.endsWith(" /bundle/intarsia.whl")));
});

test("another hash than the tested one ends the set-up", async () => {
  const stderr = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n";
  const { run, ran } = machine((words) =>
    words.includes("--require-hashes") ? { ...FAILED, stderr } : null,
  );
  await assert.rejects(install(await order({ run })), /DO NOT MATCH THE HASHES/);
  assert.ok(!ran.some((words) => words.endsWith("intarsia.whl")));
});

test("a failed set-up leaves nothing that counts as an environment, and says why", async () => {
  const { run } = machine((words) => (words.endsWith("intarsia.whl") ? FAILED : null));
  const installation = await order({ run });
  await assert.rejects(install(installation), (error: unknown) => {
    assert.ok(error instanceof SetupError);
    assert.match(error.message, /downloading packages failed: error: no such package/);
    return true;
  });
  assert.equal(await fromPrivateEnvironment(installation.storage, BUNDLE), null);
});

test("a server that does not start is not taken", async () => {
  const { run } = machine((words) =>
    words.endsWith("--version") && words.includes("-m") ? FAILED : null,
  );
  await assert.rejects(install(await order({ run })), SetupError);
});

test("a cancelled set-up ends at once and leaves nothing that counts", async () => {
  const controller = new AbortController();
  const { run, ran } = machine((words) => {
    if (words.includes(" venv ")) {
      controller.abort();
      return FAILED;
    }
    return null;
  });
  const installation = await order({ run, signal: controller.signal });
  await assert.rejects(install(installation), SetupCancelled);
  assert.ok(!ran.some((words) => words.endsWith("intarsia.whl")));
  assert.equal(await fromPrivateEnvironment(installation.storage, BUNDLE), null);
});

test("environments of other versions are removed, but only when the new one is whole", async () => {
  const broken = machine((words) => (words.endsWith("intarsia.whl") ? FAILED : null));
  const installation = await order({ run: broken.run });
  const old = { ...BUNDLE, version: "0.3.0", sha256: "cd".repeat(32) };
  const folder = environmentFolder(installation.storage, old);
  await mkdir(folder, { recursive: true });
  await markComplete(folder, old);
  assert.ok(await hasAnyEnvironment(installation.storage));
  await assert.rejects(install(installation), SetupError);
  assert.ok(existsSync(folder));
  await mkdir(environmentFolder(installation.storage, BUNDLE), { recursive: true });
  await install({ ...installation, run: machine().run });
  assert.ok(!existsSync(folder));
});

test("two set-ups do not run at once; one that died does not stand in the way", async () => {
  const installation = await order({});
  const lock = join(installation.storage, "set-up.lock");
  await mkdir(lock);
  await writeFile(join(lock, "process"), String(process.pid));
  await assert.rejects(install(installation), /another window/);
  await writeFile(join(lock, "process"), "999999999");
  await install(installation);
  assert.ok(!existsSync(lock));
});

test("uv makes the environment where Python cannot, or where there is none", async () => {
  for (const broken of ["sys.executable", "-m venv"]) {
    const { run, ran } = machine((words) => (words.includes(broken) ? FAILED : null));
    const path = await temporaryFolder();
    await writeFile(join(path, "uv"), "", { mode: 0o755 });
    await install(await order({ run, path }));
    assert.ok(ran.some((words) => /uv venv .* --seed --python >=3\.11 /.test(words)));
  }
});

test("the sources of packages that the user has named for uv are pip's too", () => {
  const own = { UV_DEFAULT_INDEX: "https://a.example", UV_INDEX: "b=https://b.example https://c" };
  assert.deepEqual(withSourcesOfUv({ ...own, UV_FIND_LINKS: "/one,/two" }), {
    ...own,
    UV_FIND_LINKS: "/one,/two",
    PIP_INDEX_URL: "https://a.example",
    PIP_EXTRA_INDEX_URL: "https://b.example https://c",
    PIP_FIND_LINKS: "/one /two",
  });
  assert.equal(withSourcesOfUv({ ...own, PIP_INDEX_URL: "/mine" }).PIP_INDEX_URL, "/mine");
});

test("without Python and without uv it says what to install", async () => {
  const run: Run = async () => FAILED;
  await assert.rejects(
    install(await order({ run })),
    /no Python 3\.11 or newer was found: install/,
  );
});
