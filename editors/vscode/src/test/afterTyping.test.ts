import assert from "node:assert/strict";
import { test } from "node:test";
import { asCandidate, plainLines, restAfter, unitsRepeated } from "../afterTyping";

test("what was typed along is taken off the suggestion", () => {
  assert.equal(restAfter("range(10)", "ran"), "ge(10)");
  assert.equal(restAfter("range(10)", ""), "range(10)");
});

test("a suggestion is over once something else was typed, or all of it", () => {
  assert.equal(restAfter("range(10)", "rang("), null);
  assert.equal(restAfter("range(10)", "range(10)"), null);
  assert.equal(restAfter("range(10)", "range(10) "), null);
});

test("the sure part is over before the suggestion is", () => {
  const { text, sure } = asCandidate("items[0].price", { tokens: [], sure: "items[" });
  assert.equal(restAfter(text, "items[0"), "].price");
  assert.equal(restAfter(sure, "items[0"), null);
});

test("nothing is sure where the server tells no confidence", () => {
  assert.deepEqual(asCandidate("x", undefined), { text: "x", sure: "" });
});

test("brackets after the cursor that a part repeats are replaced, the others stay", () => {
  assert.equal(unitsRepeated("len(x))", "))"), 2);
  assert.equal(unitsRepeated("len(x", "))"), 0);
  assert.equal(unitsRepeated("len(x)", "))"), 1);
  assert.equal(unitsRepeated("len(x)", ""), 0);
  assert.equal(unitsRepeated("a]b)", ")]"), 1);
});

test("a suggestion goes on along a line that was typed, whatever the document's line ends", () => {
  const { text } = asCandidate("if x:\r\n    y", undefined);
  assert.equal(restAfter(text, plainLines("if x:\r\n  ")), "  y");
  assert.equal(restAfter(text, plainLines("if x:\n  ")), "  y");
});
