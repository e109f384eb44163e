// Station 1: the command that the user set. It is taken as it is.

import type { ServerProgram } from "../serverProgram";

/** Split `["…/intarsia", "serve", "--debug"]` at `serve`, so that `doctor` can be run as well. */
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
