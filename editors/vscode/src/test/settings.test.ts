import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import manifest from "../../package.json";
import { SERVER_OPTIONS, serverOptions } from "../serverOptions";

interface Property {
  type: string | string[];
  default: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  items?: { type: string; minLength?: number };
  description?: string;
  markdownDescription?: string;
}

interface ServerOption {
  field: string;
  kind: string;
}

const properties: Record<string, Property> = manifest.contributes.configuration.properties;
const source = readFileSync("../../lsp/settings.py", "utf8");
const serverSettings = parseOptions(source);

/** Read the rows of `_OPTIONS`, with the shorthands for types written out. */
function parseOptions(text: string): Map<string, ServerOption> {
  const shorthands = new Map(
    [...text.matchAll(/^(_\w+) = (Annotated\[.*\])$/gm)].map(([, name, kind]) => [name, kind]),
  );
  const [, table = ""] = /^_OPTIONS[^{]*\{\n([\s\S]*?)^\}/m.exec(text) ?? [];
  const rows = table.matchAll(/^ {4}"(\w+)": \("(\w+)", (.+)\),$/gm);
  return new Map(
    [...rows].map(([, name = "", field = "", kind = ""]) => [
      name,
      { field, kind: shorthands.get(kind) ?? kind },
    ]),
  );
}

function bound(kind: string, name: string): number | undefined {
  const match = new RegExp(`\\b${name}=([\\d._]+)`).exec(kind);
  return match?.[1] === undefined ? undefined : Number(match[1].replaceAll("_", ""));
}

/** Read the default of a field of the dataclass, as JSON has it. */
function defaultOf(field: string): unknown {
  const match = new RegExp(`^ {4}${field}: [^=]+ = (\\S+)`, "m").exec(source);
  const words: Record<string, unknown> = { True: true, False: false, None: null, "()": [] };
  const word = match?.[1] ?? assert.fail(`no default of ${field}`);
  return word in words ? words[word] : JSON.parse(word.replaceAll("_", ""));
}

function jsonType(kind: string): string {
  const known: [RegExp, string][] = [
    [/tuple\[/, "array"],
    [/\bbool\b/, "boolean"],
    [/\bint\b/, "integer"],
    [/\bfloat\b/, "number"],
    [/\bstr\b|SettleMode/, "string"],
  ];
  return known.find(([pattern]) => pattern.test(kind))?.[1] ?? assert.fail(kind);
}

test("the server's options are read from its source", () => {
  assert.ok(serverSettings.size >= 19);
});

test("the extension tells the server exactly the options that it knows", () => {
  assert.deepEqual([...SERVER_OPTIONS].sort(), [...serverSettings.keys()].sort());
});

test("each option of the server is a setting, and there is no other but where the server is", () => {
  const names = [...serverSettings.keys()].map((name) => `intarsia.${name}`);
  assert.deepEqual(Object.keys(properties).sort(), ["intarsia.serverCommand", ...names].sort());
});

for (const [name, { field, kind }] of serverSettings) {
  test(`${name} has the server's type, default and range`, () => {
    const property = properties[`intarsia.${name}`] ?? assert.fail("no such setting");
    assert.ok([property.type].flat().includes(jsonType(kind)), String(property.type));
    assert.deepEqual(property.default, defaultOf(field));
    assert.equal(property.minimum, bound(kind, "ge"));
    assert.equal(property.exclusiveMinimum, bound(kind, "gt"));
    assert.equal(property.maximum, bound(kind, "le"));
    const ofText = kind.startsWith("tuple") ? property.items?.minLength : property.minLength;
    assert.equal(ofText, bound(kind, "min_length"));
    assert.ok(property.description ?? property.markdownDescription);
  });
}

test("what names programs, models or files to read is restricted in an untrusted workspace", () => {
  const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  for (const name of ["serverCommand", "model", "exclude", "excludeSecrets"]) {
    assert.ok(restrictedConfigurations.includes(`intarsia.${name}`), name);
  }
});

test("the server is told its options alone, and null for its own default", () => {
  const told = serverOptions({ serverCommand: ["x"], debounceMs: 10, model: null });
  assert.equal(told.debounceMs, 10);
  assert.equal(told.model, null);
  assert.ok(!("serverCommand" in told));
});
