import assert from "node:assert/strict";
import { test } from "node:test";
import { endsWithAbbreviation } from "../emmet";

test("an abbreviation is a word with Emmet's operators, alone in its line or after a tag", () => {
  for (const line of ["ul>li.item$*3", "  div", "<p>a", "m10", "!", ".card"]) {
    assert.ok(endsWithAbbreviation(line), line);
  }
});

test("nothing else is one", () => {
  for (const line of ["", "  ", "<div>", "color: ", "a = b", '<a href="x"']) {
    assert.ok(!endsWithAbbreviation(line), line);
  }
});
