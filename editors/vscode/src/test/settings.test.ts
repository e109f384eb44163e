// That the manifest agrees with the server is checked in tests/lsp/test_settings.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../../package.json";
import { LANGUAGE_OPTIONS, serverOptions } from "../serverOptions";

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
  const command = manifest.contributes.configuration.properties["intarsia.serverCommand"];
  assert.equal(command.scope, "machine");
});

test("the server gets all settings but the extension's own", () => {
  const options = serverOptions({ serverCommand: ["x"], debounceMs: 10, model: null }, []);
  assert.deepEqual(options, { debounceMs: 10, model: null, languages: {} });
});

test("the settings that a language may override are those of the manifest", () => {
  const settings = Object.entries(manifest.contributes.configuration.properties);
  const overridable = settings.filter(
    ([, setting]) => "scope" in setting && setting.scope === "language-overridable",
  );
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
