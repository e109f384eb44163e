import assert from "node:assert/strict";
import { test } from "node:test";
import { blockBeside, expanded } from "../nextEdits/block";
import { KeptNames, placesAfter } from "../nextEdits/keptNames";
import { lineDiff, linesOf, trimmed } from "../nextEdits/lineDiff";
import { nextFrom, Offers, sameAmong } from "../nextEdits/offers";
import type { NextEdit } from "../protocol";

const URI = "file:///a.py";

function offer(id: string, line: number, newText = "x\n"): NextEdit {
  const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
  return { id, range, newText, level: "sure" };
}

/** Return a line with what goes in [] and what comes in {}. */
function drawn(before: string, after: string): string {
  const { removed, added } = lineDiff([before], [after]);
  const marks = [
    ...removed.flatMap(({ start, end }) => [
      { at: start, order: 1, mark: "[" },
      { at: end, order: 0, mark: "]" },
    ]),
    ...added.map(({ at, text }) => ({ at, order: 0.5, mark: `{${text}}` })),
  ].sort((one, other) => other.at - one.at || other.order - one.order);
  return marks.reduce((text, { at, mark }) => text.slice(0, at) + mark + text.slice(at), before);
}

test("offers hold for their own version of the text alone", () => {
  const offers = new Offers();
  offers.receive({ uri: URI, version: 3, edits: [offer("b", 9), offer("a", 2)] });
  assert.deepEqual(
    offers.at(URI, 3).map(({ id }) => id),
    ["a", "b"],
  );
  assert.deepEqual(offers.at(URI, 4), []);
  assert.deepEqual(offers.at("file:///b.py", 3), []);
  assert.equal(offers.isBeingMoved(URI, 4), true);
  assert.equal(offers.isBeingMoved(URI, 3), false);
});

test("an empty list takes the offers away", () => {
  const offers = new Offers();
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2)] });
  offers.receive({ uri: URI, version: 3, edits: [] });
  assert.deepEqual(offers.at(URI, 3), []);
  assert.equal(offers.isBeingMoved(URI, 4), false);
});

test("a rename may have something left in other files alone", () => {
  const offers = new Offers();
  const start = { line: 0, character: 4 };
  const range = { start, end: { line: 0, character: 8 } };
  const elsewhere = { files: 2, uses: 3 };
  const rename = { oldName: "total", newName: "cost", ranges: [range], position: start, elsewhere };
  offers.receive({ uri: URI, version: 3, edits: [], rename });
  assert.deepEqual(offers.at(URI, 3), []);
  assert.deepEqual(offers.renameAt(URI, 3), rename);
  assert.equal(offers.renameAt(URI, 4), undefined);
  offers.changed(URI, true);
  assert.equal(offers.renameAt(URI, 3), undefined);
  offers.changed(URI, false);
  offers.receive({ uri: URI, version: 4, edits: [] });
  assert.equal(offers.renameAt(URI, 4), undefined);
});

test("nothing is offered right after undo, and again after the next change", () => {
  const offers = new Offers();
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2)] });
  offers.changed(URI, true);
  offers.receive({ uri: URI, version: 4, edits: [offer("a", 2)] });
  assert.deepEqual(offers.at(URI, 4), []);
  assert.equal(offers.isBeingMoved(URI, 5), false);
  offers.changed(URI, false);
  offers.receive({ uri: URI, version: 5, edits: [offer("a", 2)] });
  assert.equal(offers.at(URI, 5).length, 1);
});

test("an offer that is done is gone before the server says so", () => {
  const offers = new Offers();
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2), offer("b", 9)] });
  offers.remove(URI, "a");
  assert.deepEqual(
    offers.at(URI, 3).map(({ id }) => id),
    ["b"],
  );
  offers.remove(URI, "b");
  assert.deepEqual(offers.at(URI, 3), []);
});

test("a rename holds with its offers alone", () => {
  const offers = new Offers();
  const range = { start: { line: 0, character: 4 }, end: { line: 0, character: 8 } };
  const rename = { oldName: "area", newName: "size", ranges: [range], position: range.start };
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2)], rename });
  assert.equal(offers.renameAt(URI, 3), rename);
  assert.equal(offers.renameAt(URI, 4), undefined);
  offers.changed(URI, true);
  assert.equal(offers.renameAt(URI, 3), undefined);
  offers.changed(URI, false);
  offers.remove(URI, "a");
  assert.equal(offers.renameAt(URI, 3), undefined);
});

test("a name is followed through changes, until it is changed itself", () => {
  const cases: [number, number, string, number[]][] = [
    [0, 0, "ab", [12, 22]], // before both
    [10, 0, "ab", [12, 22]], // right before the first
    [14, 0, "ab", [10, 22]], // right after it
    [15, 2, "", [10, 18]],
    [24, 1, "x", [10, 20]],
    [12, 0, "x", [21]], // within it
    [8, 3, "", [17]],
    [10, 4, "name", [20]],
    [0, 30, "all", []],
  ];
  for (const [rangeOffset, rangeLength, text, expected] of cases) {
    const names = new KeptNames([
      { start: 10, end: 14 },
      { start: 20, end: 24 },
    ]);
    names.change([{ rangeOffset, rangeLength, text }]);
    assert.deepEqual(
      names.places.map(({ start }) => start),
      expected,
    );
    assert.ok(names.places.every(({ start, end }) => end - start === 4));
  }
});

test("changes of one event are ranges of the text before it", () => {
  const names = new KeptNames([{ start: 10, end: 14 }]);
  names.change([
    { rangeOffset: 20, rangeLength: 0, text: "x" },
    { rangeOffset: 5, rangeLength: 1, text: "" },
    { rangeOffset: 0, rangeLength: 0, text: "abc" },
  ]);
  assert.deepEqual(names.places, [{ start: 12, end: 16 }]);
});

test("the old name's places are those of the new one, less what is shorter above", () => {
  const places = [
    { start: 20, end: 25 },
    { start: 4, end: 9 },
  ];
  assert.deepEqual(placesAfter(places, "old"), [
    { start: 4, end: 7 },
    { start: 18, end: 21 },
  ]);
});

test("the next one is below the cursor, and the first one after the last", () => {
  const offers = [offer("a", 2), offer("b", 9)];
  assert.equal(nextFrom(offers, 2)?.id, "a");
  assert.equal(nextFrom(offers, 3)?.id, "b");
  assert.equal(nextFrom(offers, 10)?.id, "a");
  assert.equal(nextFrom([], 0), undefined);
});

test("the same change is found again under another id", () => {
  const shown = offer("a", 2);
  assert.equal(sameAmong([offer("c", 9), offer("d", 2)], shown)?.id, "d");
  assert.equal(sameAmong([offer("d", 2, "y\n")], shown), undefined);
  assert.equal(sameAmong([offer("d", 3)], shown), undefined);
});

test("within a line, only the tokens that differ are marked", () => {
  assert.equal(drawn("print(area(1, 2))", "print(size(1, 2))"), "print([area]{size}(1, 2))");
  assert.equal(drawn("f(a)", "f(a, b)"), "f(a{, b})");
  assert.equal(drawn("f(a, größe)", "f(größe)"), "f([a, ]größe)");
  assert.equal(drawn("    x = 1", "    x = 1"), "    x = 1");
});

test("a line with little in common is replaced as a whole, its indentation stays", () => {
  assert.equal(
    drawn("    return None", "    raise KeyError(name)"),
    "    [return None]{raise KeyError(name)}",
  );
  assert.equal(drawn("x = 1", "    if y:"), "[x = 1]{    if y:}");
});

test("an emptied line has nothing to add", () => {
  assert.equal(drawn("x = 1", ""), "[x = 1]");
});

test("lines that pair up are compared one by one", () => {
  const { removed, added, block } = lineDiff(["a(1)", "b(2)"], ["a(1)", "c(2)"]);
  assert.deepEqual(removed, [{ line: 1, start: 0, end: 1 }]);
  assert.deepEqual(added, [{ line: 1, at: 1, text: "c" }]);
  assert.deepEqual(block, []);
});

test("lines that do not pair up are a block, without the lines that both have", () => {
  assert.deepEqual(lineDiff(["f(", "  a)"], ["f(", "  a,", "  b)"]), {
    removed: [{ line: 1, start: 2, end: 4 }],
    added: [],
    block: ["  a,", "  b)"],
    blockAt: 1,
  });
  assert.deepEqual(lineDiff([], ["import os"]).block, ["import os"]);
  assert.deepEqual(lineDiff(["a", "b"], []).removed.length, 2);
});

test("a line end at the end of a text begins no line", () => {
  assert.deepEqual(linesOf("a\r\nb\n"), ["a", "b"]);
  assert.deepEqual(linesOf("a\n\n"), ["a", ""]);
  assert.deepEqual(linesOf(""), []);
});

test("the smallest replacement cuts no character and no line end", () => {
  assert.deepEqual(trimmed("f(area)\n", "f(size)\n"), { start: 2, end: 6, text: "size" });
  assert.deepEqual(trimmed("ab", "ab"), { start: 2, end: 2, text: "" });
  assert.deepEqual(trimmed("aa", "aaa"), { start: 2, end: 2, text: "a" });
  assert.deepEqual(trimmed("\u{1F600}", "\u{1F601}"), { start: 0, end: 2, text: "\u{1F601}" });
  assert.deepEqual(trimmed("\u{1F600}", "\u{1FA00}"), { start: 0, end: 2, text: "\u{1FA00}" });
  assert.deepEqual(trimmed("a\r\n", "a b\r\n"), { start: 1, end: 1, text: " b" });
  assert.deepEqual(trimmed("a\r\n", ""), { start: 0, end: 3, text: "" });
});

test("a block begins in one column, to the right of the code beside it", () => {
  const lines = ["short", "a longer line", "", "\tx"];
  assert.deepEqual(blockBeside(lines, 1, ["one", "\ttwo"], 4), [
    { line: 1, gap: 3, text: "+ one     " },
    { line: 2, gap: 16, text: "+     two " },
  ]);
});

test("a block at the end of a document begins higher, and no line is lost", () => {
  const at = (block: string[]) => blockBeside(["a", "b"], 1, block, 4);
  assert.deepEqual(
    at(["x", "y"]).map(({ line, text }) => [line, text.trim()]),
    [
      [0, "+ x"],
      [1, "+ y"],
    ],
  );
  assert.deepEqual(
    at(["x", "y", "  z"]).map(({ text }) => text.trim()),
    ["+ x", "+ y ⏎ z"],
  );
});

test("tabs reach the next tab stop", () => {
  assert.equal(expanded("a\tb\t", 4), "a   b   ");
});
