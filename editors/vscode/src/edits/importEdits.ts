// What the server's command intarsia.addImports is asked for, and which answers are of use.

import type { TextEdit } from "vscode-languageclient/node";
import type { AddedImports } from "../protocol";

/** Return the command's arguments for edits that are returned and not applied by the server. */
export function toBeReturned(args: readonly unknown[]): unknown[] {
  return args.map((argument) => ({ ...(argument as object), apply: false }));
}

/** Return the document that the arguments name; null where they name none. */
export function documentOf(args: readonly unknown[]): string | null {
  const [argument] = args as { textDocument?: { uri?: unknown } }[];
  const uri = argument?.textDocument?.uri;
  return typeof uri === "string" ? uri : null;
}

/** Return the edits for this version; none where the document has changed meanwhile. */
export function editsFor(version: number, answer: AddedImports | null): readonly TextEdit[] {
  return answer?.version === version ? answer.edits : [];
}
