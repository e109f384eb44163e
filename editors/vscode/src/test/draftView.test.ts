import assert from "node:assert/strict";
import { test } from "node:test";
import { draftLine } from "../draftView";

const settled = (text: string) => ({ text, confidence: 1, settled: true });
const guessed = (text: string) => ({ text, confidence: 0.4, settled: false });

const CASES: [string, ReturnType<typeof settled>[], string][] = [
  [
    "settled text is drawn as text, what may still change as dots of its length",
    [settled("sum("), guessed("item"), guessed(" for")],
    "sum(···· ···",
  ],
  ["settled text after a guess is drawn after the dots", [guessed("a b"), settled(")")], "· ·)"],
  [
    "lines below the first are counted, not drawn",
    [settled("if x:\n"), settled("    y\n"), guessed("z")],
    "if x:  +2",
  ],
  ["line ends at the end of a draft are no lines", [settled("x\n"), guessed("\n\n")], "x"],
  ["a line end within a settled text ends the line", [guessed("x"), settled("\r\ny")], "·  +1"],
  ["tabs have the editor's width, and spaces do not collapse", [settled("a  b\tc")], "a  b  c"],
  ["an empty draft draws nothing", [], ""],
];

for (const [name, tokens, expected] of CASES) {
  test(name, () => {
    assert.equal(draftLine(tokens, 2), expected.replaceAll(" ", "\u00a0"));
  });
}

test("no word of an unsettled token is ever drawn", () => {
  const line = draftLine([guessed("secret"), guessed("\tword"), guessed("ünï")], 4);
  assert.match(line, /^[·\u00a0]+$/);
});

test("the longest line is cut at the editor's usual width", () => {
  assert.equal(draftLine([settled("x".repeat(500)), guessed("y")], 4).length, 120);
});
