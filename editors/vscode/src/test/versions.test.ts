import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../run";
import { fits, versionOfProgram } from "../versions";

test("the same version and later patches of its minor version fit", () => {
  assert.ok(fits("0.3.1", "0.3.1"));
  assert.ok(fits("0.3.12", "0.3.2"));
});

test("older patches and other minor or major versions do not fit", () => {
  for (const found of ["0.3.0", "0.2.5", "0.4.1", "1.3.1", "nonsense", ""]) {
    assert.ok(!fits(found, "0.3.1"), found);
  }
});

test("a program's version is the last word of what it prints", async () => {
  const printing =
    (stdout: string, code = 0): Run =>
    async () => ({ code, stdout, stderr: "" });
  assert.equal(await versionOfProgram(printing("intarsia 0.3.1\n"), "intarsia"), "0.3.1");
  assert.equal(await versionOfProgram(printing("usage: another program\n"), "intarsia"), null);
  assert.equal(await versionOfProgram(printing("intarsia 0.3.1\n", 2), "intarsia"), null);
});
