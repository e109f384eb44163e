import assert from "node:assert/strict";
import { test } from "node:test";
import { textWith } from "../edits/textWith";

test("each range is replaced, whatever their order, and nothing else is touched", () => {
  const source = "a = ...\nb = ...\n";
  const replacements = [
    { start: 12, end: 15, text: "second" },
    { start: 4, end: 7, text: "1" },
  ];
  assert.equal(textWith(source, replacements), "a = 1\nb = second\n");
});

test("an empty range inserts, an empty text deletes", () => {
  assert.equal(textWith("abc", [{ start: 1, end: 1, text: "-" }]), "a-bc");
  assert.equal(textWith("abc", [{ start: 1, end: 2, text: "" }]), "ac");
});

test("without replacements the text stays as it is", () => {
  assert.equal(textWith("abc", []), "abc");
});
