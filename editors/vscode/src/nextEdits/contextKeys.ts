// Tells VS Code when the keys of next edits apply.

import { commands } from "vscode";

export interface Keys {
  /** There is an offer in the active editor. */
  offered: boolean;
  /** The difference of one is on show. */
  shown: boolean;
  /** A language server can rename what the last edit began to rename. */
  rename: boolean;
  /** Tab means an offer, and not indentation. */
  tab: boolean;
}

export class ContextKeys {
  private now: Keys = { offered: false, shown: false, rename: false, tab: false };

  set(keys: Keys): void {
    for (const name of ["offered", "shown", "rename", "tab"] as const) {
      if (keys[name] !== this.now[name]) {
        void commands.executeCommand("setContext", `intarsia.nextEdit.${name}`, keys[name]);
      }
    }
    this.now = keys;
  }
}
