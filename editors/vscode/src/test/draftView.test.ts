import assert from "node:assert/strict";
import { test } from "node:test";
import { draftLine } from "../draftView";

const settled = (text: string) => ({ text, confidence: 1, settled: true });
const guessed = (text: string) => ({ text, confidence: 0.4, settled: false });
const plain = (text: string) => text.replaceAll("\u00a0", " ");

function drawn(...tokens: ReturnType<typeof settled>[]): string {
  return plain(draftLine(tokens, 4));
}

test("settled text is drawn as text, what may still change as dots of its length", () => {
  assert.equal(drawn(settled("sum("), guessed("item"), guessed(" for")), "sum(···· ···");
});

test("no word of an unsettled token is ever drawn", () => {
  const line = draftLine([guessed("secret"), guessed("\tword"), guessed("ünï")], 4);
  assert.match(line, /^[·\u00a0]+$/);
});

test("settled text after a guess is drawn after the dots", () => {
  assert.equal(drawn(guessed("a b"), settled(")")), "· ·)");
});

test("lines below the first are counted, not drawn", () => {
  assert.equal(drawn(settled("if x:\n"), settled("    y\n"), guessed("z")), "if x:  +2");
});

test("line ends at the end of a draft are no lines", () => {
  assert.equal(drawn(settled("x\n"), guessed("\n\n")), "x");
});

test("a line end within the settled beginning ends the line for the guesses as well", () => {
  assert.equal(drawn(guessed("x"), settled("\r\ny")), "·  +1");
});

test("spaces do not collapse, and tabs have the editor's width", () => {
  assert.equal(draftLine([settled("a  b\tc")], 2), "a\u00a0\u00a0b\u00a0\u00a0c");
});

test("the longest line is cut at the editor's usual width", () => {
  assert.equal(draftLine([settled("x".repeat(500)), guessed("y")], 4).length, 120);
});

test("an empty draft draws nothing", () => {
  assert.equal(drawn(), "");
});
