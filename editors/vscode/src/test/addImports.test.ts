import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { addImports } from "../edits/addImports";

const ARGUMENT = { textDocument: { uri: "file:///a.py" }, imports: [], apply: true };
const EDIT = { range: {}, newText: "import os\n" };
const CLIENT = {
  code2ProtocolConverter: { asUri: String },
  protocol2CodeConverter: { asTextEdits: async (edits: unknown) => edits },
} as unknown as LanguageClient;

/** Return the texts that are put into the active document, by an answer for its version 3. */
async function added(uri: string, version: number, args: object[] = [ARGUMENT]): Promise<string[]> {
  const texts: string[] = [];
  const builder = { replace: (_: unknown, text: string) => texts.push(text) };
  const edit = async (make: (it: object) => void) => make(builder);
  Object.assign(window, { activeTextEditor: { document: { uri, version }, edit } });
  await addImports(CLIENT, args, async ([sent]) => {
    assert.deepEqual(sent, { ...args[0], apply: false }, "the server applies none");
    return args.length === 0 ? null : { version: 3, edits: [EDIT] };
  });
  return texts;
}

test("edits are made in their own document, at their own version", async () => {
  assert.deepEqual(await added("file:///a.py", 3), ["import os\n"]);
  assert.deepEqual(await added("file:///a.py", 4), []);
  assert.deepEqual(await added("file:///b.py", 3), []);
  assert.deepEqual(await added("file:///a.py", 3, []), []);
});
