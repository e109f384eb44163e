import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText, withOne } from "../messages";

// VS Code's own: src/vs/base/common/linkedText.ts.
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;

const HOSTILE = [
  "[x](command:workbench.action.terminal.sendSequence).env is excluded",
  "[a]([b](https://evil.example)",
  '[x](file:///etc/passwd "title")',
];

for (const message of HOSTILE) {
  test(`no link is left in ${message}`, () => {
    assert.match(message, LINK);
    assert.doesNotMatch(plainText(message), LINK);
    assert.equal(plainText(message).replaceAll(" ", ""), message.replaceAll(" ", ""));
  });
}

test("a message that takes more than a line has a button, so that it is shown whole", () => {
  assert.deepEqual(withOne([], "no code is selected"), []);
  assert.deepEqual(
    withOne([], "the text would probably not be kept: 7 %, and showThreshold is 20 %"),
    ["OK"],
  );
  assert.deepEqual(withOne(["Retry"], "x".repeat(90)), ["Retry"]);
});

test("other text stays as it is", () => {
  assert.equal(plainText("a[0] (see b) and f(x)[1]"), "a[0] (see b) and f(x)[1]");
});
