import assert from "node:assert/strict";
import { test } from "node:test";
import { translator } from "../serverWords";

const german = translator({
  "Last: {0}": "Zuletzt: {0}",
  "nothing was shown{0}": "nichts wurde angezeigt{0}",
  ": {0}": ": {0}",
  "{0} is in disabledLanguages": "{0} steht in disabledLanguages",
  "{0} tokens read": "gelesene Token: {0}",
  "{0} ms": "{0} ms",
  "it is (not) here": "es ist (nicht) hier",
  "{0} of {1} files": "von {1} Dateien {0}",
  Settings: "Einstellungen",
  "Rename {0}": "{0} umbenennen",
});

test("a text is translated as it is, by a pattern, and within another one", () => {
  assert.equal(german("it is (not) here"), "es ist (nicht) hier");
  assert.equal(german("2 of 3 files"), "von 3 Dateien 2");
  assert.equal(
    german("Last: nothing was shown: python is in disabledLanguages"),
    "Zuletzt: nichts wurde angezeigt: python steht in disabledLanguages",
  );
});

test("what is joined is translated in parts, what nobody has translated stays", () => {
  assert.equal(german("new · 212 ms · 60 tokens read"), "new · 212 ms · gelesene Token: 60");
  assert.equal(german("it is (not) here; why?\n{0}"), "es ist (nicht) hier; why?\n{0}");
  assert.equal(translator({})("python is in disabledLanguages"), "python is in disabledLanguages");
});

test("a name that is also a word stays", () => {
  assert.equal(german("Rename Settings"), "Settings umbenennen");
  assert.equal(german("toString"), "toString");
});
