import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { documentOf, editsFor, toBeReturned } from "../edits/importEdits";

const ARGUMENT = { textDocument: { uri: "file:///a.py" }, imports: [], apply: true };
const EDIT = {
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  newText: "import os\n",
};

test("the server returns the edits and applies none", () => {
  deepEqual(toBeReturned([ARGUMENT]), [{ ...ARGUMENT, apply: false }]);
});

test("the arguments tell the document", () => {
  equal(documentOf([ARGUMENT]), "file:///a.py");
  equal(documentOf([]), null);
  equal(documentOf([{ textDocument: {} }]), null);
});

test("edits of another version are not made", () => {
  deepEqual(editsFor(3, { version: 3, edits: [EDIT] }), [EDIT]);
  deepEqual(editsFor(4, { version: 3, edits: [EDIT] }), []);
  deepEqual(editsFor(4, null), []);
});
