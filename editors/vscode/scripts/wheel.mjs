// Builds the server's wheel from this repository into server/, with the versions it is tested with.
// It is built from a copy: setuptools would take up leftovers of an earlier build in the repository.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

const repository = resolve("../..");
const project = readFileSync(join(repository, "pyproject.toml"), "utf8");
const folders = [...project.matchAll(/^"intarsia\.\w+" = "(\w+)"$/gm)].map(([, folder]) => folder);
const sources = [...folders, "pyproject.toml", "README.md", "LICENSE"];
const python = process.env.PYTHON ?? "python3";

const copy = mkdtempSync(join(tmpdir(), "intarsia-wheel-"));
try {
  for (const name of sources) {
    cpSync(join(repository, name), join(copy, name), {
      recursive: true,
      filter: (path) => basename(path) !== "__pycache__",
    });
  }
  rmSync("server", { recursive: true, force: true });
  mkdirSync("server");
  const done = spawnSync(
    python,
    ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", resolve("server"), copy],
    { stdio: "inherit", env: { ...process.env, SOURCE_DATE_EPOCH: "315532800" } }, // the same bytes each time
  );
  if (done.status !== 0) {
    throw new Error(`${python} could not build the server's wheel: set PYTHON to one with pip`);
  }
  const lock = "requirements.hashed.lock";
  cpSync(join(repository, lock), join("server", lock));
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const wheel = `intarsia-${version}-py3-none-any.whl`; // not there if the versions differ
  const sha256 = createHash("sha256")
    .update(readFileSync(join("server", wheel)))
    .digest("hex");
  writeFileSync("server/bundle.json", JSON.stringify({ version, wheel, sha256 }));
} finally {
  rmSync(copy, { recursive: true, force: true });
}
