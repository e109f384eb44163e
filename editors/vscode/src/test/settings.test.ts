// That the manifest agrees with the server is checked in tests/lsp/test_settings.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../../package.json";
import { LANGUAGE_OPTIONS, SERVER_OPTIONS, serverOptions, withLanguages } from "../serverOptions";

const NOT_SENT = ["intarsia.serverCommand"];

test("the extension sends the server each setting of the manifest", () => {
  const names = Object.keys(manifest.contributes.configuration.properties);
  const sent = SERVER_OPTIONS.map((name) => `intarsia.${name}`);
  assert.deepEqual(names.sort(), [...NOT_SENT, ...sent].sort());
});

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

test("the server gets its own options only, and null for its default", () => {
  const options = serverOptions({ serverCommand: ["x"], debounceMs: 10, model: null });
  assert.equal(options.debounceMs, 10);
  assert.equal(options.model, null);
  assert.ok(!("serverCommand" in options));
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
  const { languages } = withLanguages(options, [override]);
  assert.deepEqual(languages, { python: { inStrings: true, overMenu: true } });
  assert.deepEqual(withLanguages({ languages: null }, [override]).languages, {
    python: { inStrings: true },
  });
});
