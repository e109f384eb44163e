// That the manifest agrees with the server is checked in tests/lsp/test_settings.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../../package.json";
import { LANGUAGE_OPTIONS, serverOptions } from "../serverOptions";

const groups: unknown = manifest.contributes.configuration; // each type lacks the others' settings
const SETTINGS = (groups as { properties: Record<string, { scope?: string }> }[]).flatMap(
  ({ properties }) => Object.entries(properties),
);

test("settings of programs, files and the model's work are restricted without trust", () => {
  const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  for (const name of [
    "serverCommand",
    "exclude",
    "excludeSecrets",
    "projectContext",
    "previewEdits",
    "preload",
    "maxPrefixTokens",
  ]) {
    assert.ok(restrictedConfigurations.includes(`intarsia.${name}`), name);
  }
});

test("no workspace names the program of the server, trusted or not", () => {
  assert.equal(Object.fromEntries(SETTINGS)["intarsia.serverCommand"]?.scope, "machine");
});

test("the server gets all settings but the extension's own", () => {
  const own = { serverCommand: ["x"], nextEditTab: true };
  const options = serverOptions({ ...own, debounceMs: 10, model: null }, []);
  assert.deepEqual(options, { debounceMs: 10, model: null, languages: {} });
});

test("the settings that a language may override are those of the manifest", () => {
  const overridable = SETTINGS.filter(([, { scope }]) => scope === "language-overridable");
  const names = LANGUAGE_OPTIONS.map((name) => `intarsia.${name}`);
  assert.deepEqual(names.sort(), overridable.map(([name]) => name).sort());
});

test("what VS Code has for a language goes before the setting of languages", () => {
  const options = { languages: { python: { inStrings: false, overMenu: true } } };
  const override = { languageId: "python", name: "inStrings", value: true };
  const { languages } = serverOptions(options, [override]);
  assert.deepEqual(languages, { python: { inStrings: true, overMenu: true } });
  const { languages: others } = serverOptions({ languages: null }, [override]);
  assert.deepEqual(others, { python: { inStrings: true } });
});
