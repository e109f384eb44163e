import assert from "node:assert/strict";
import { test } from "node:test";
import type { TextEditor } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { linesOf, Offers } from "../nextEdits/offers";
import { KeptNames, placesAfter, type Renaming } from "../nextEdits/renaming";
import { blockBeside, expanded } from "../nextEdits/view";
import type { NextEdit } from "../protocol";

const URI = "file:///a.py";

function offer(id: string, line: number, newText = "x\n"): NextEdit {
  const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
  const difference = { removed: [], added: [], block: [] };
  return { id, range, newText, level: "sure", change: { range, newText }, difference };
}

/** Offers that are not hidden, where a language server is known to rename. */
function noOffers(): Offers {
  const client = { code2ProtocolConverter: { asUri: String }, sendNotification: () => undefined };
  const renaming = { isPossible: () => true } as unknown as Renaming;
  return new Offers(
    () => client as unknown as LanguageClient,
    renaming,
    () => false,
  );
}

/** An editor with a version of a document, the cursor in a line. */
function at(version: number, line = 0, uri = URI): TextEditor {
  const editor = { document: { uri, version }, selection: { active: { line } } };
  return editor as unknown as TextEditor;
}

function idsIn(offers: Offers, editor: TextEditor): string[] {
  return offers.current(editor).map(({ id }) => id);
}

test("offers hold for their own version of the text alone", () => {
  const offers = noOffers();
  offers.receive({ uri: URI, version: 3, edits: [offer("b", 9), offer("a", 2)] });
  assert.deepEqual(idsIn(offers, at(3)), ["a", "b"]);
  assert.deepEqual(offers.current(at(4)), []);
  assert.deepEqual(offers.current(at(3, 0, "file:///b.py")), []);
  assert.equal(offers.isBeingMoved(at(4)), true);
  assert.equal(offers.isBeingMoved(at(3)), false);
});

test("an empty list takes the offers away", () => {
  const offers = noOffers();
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2)] });
  offers.receive({ uri: URI, version: 3, edits: [] });
  assert.deepEqual(offers.current(at(3)), []);
  assert.equal(offers.isBeingMoved(at(4)), false);
});

test("an offer that is dismissed is gone before the server says so", () => {
  const offers = noOffers();
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2), offer("b", 9)] });
  offers.dismiss(at(3), offer("a", 2));
  assert.deepEqual(idsIn(offers, at(3)), ["b"]);
  offers.dismiss(at(3), offer("b", 2));
  assert.deepEqual(offers.current(at(3)), []);
});

test("a rename holds for its version, and with its offers where none is left elsewhere", () => {
  const range = { start: { line: 0, character: 4 }, end: { line: 0, character: 8 } };
  const rename = { oldName: "area", newName: "size", ranges: [range], position: range.start };
  const elsewhere = { files: 2, uses: 3 };
  for (const offered of [
    { edits: [offer("a", 2)], rename },
    { edits: [], rename: { ...rename, elsewhere } },
  ]) {
    const offers = noOffers();
    offers.receive({ uri: URI, version: 3, ...offered });
    assert.equal(offers.renameIn(at(3)), offered.rename);
    assert.equal(offers.renameIn(at(4)), undefined);
    offers.dismiss(at(3), offer("a", 2));
    assert.equal(offers.renameIn(at(3)) === undefined, offered.edits.length > 0);
    offers.receive({ uri: URI, version: 4, edits: [] });
    assert.equal(offers.renameIn(at(4)), undefined);
  }
});

test("where the edit goes on elsewhere is told once nothing is left here", () => {
  const offers = noOffers();
  const next = { uri: "file:///b.py", range: offer("a", 41).range };
  offers.receive({ uri: URI, version: 3, edits: [], next });
  assert.equal(offers.elsewhere(at(3)), next);
  assert.equal(offers.elsewhere(at(4)), undefined);
  offers.receive({ uri: URI, version: 3, edits: [offer("b", 2)], next });
  assert.equal(offers.elsewhere(at(3)), undefined, "there is one here");
  offers.dismiss(at(3), offer("b", 2));
  assert.equal(offers.elsewhere(at(3)), next);
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
  const offers = noOffers();
  assert.equal(offers.find(at(3)), undefined);
  offers.receive({ uri: URI, version: 3, edits: [offer("a", 2), offer("b", 9)] });
  assert.equal(offers.find(at(3, 2))?.id, "a");
  assert.equal(offers.find(at(3, 3))?.id, "b");
  assert.equal(offers.find(at(3, 10))?.id, "a");
  assert.equal(offers.find(at(3, 10), "b")?.id, "b");
});

test("a line end at the end of a text begins no line", () => {
  assert.deepEqual(linesOf("a\r\nb\n"), ["a", "b"]);
  assert.deepEqual(linesOf("a\n\n"), ["a", ""]);
  assert.deepEqual(linesOf(""), []);
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
