// First place: the command in the user's settings, which is used unchanged.

import type { ServerProgram } from "../serverProgram";

/** Split `["…/intarsia", "serve", "--debug"]` at `serve`, so that `doctor` can be run too. */
export function fromSetting(words: readonly string[]): ServerProgram | null {
  const [command, ...args] = words;
  if (command === undefined) {
    return null;
  }
  const at = args.indexOf("serve");
  const before = at === -1 ? args : args.slice(0, at);
  const after = at === -1 ? [] : args.slice(at + 1);
  return { command, args: before, serveArgs: after, origin: "the setting intarsia.serverCommand" };
}
