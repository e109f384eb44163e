import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "../messages";

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

test("other text stays as it is", () => {
  assert.equal(plainText("a[0] (see b) and f(x)[1]"), "a[0] (see b) and f(x)[1]");
});
