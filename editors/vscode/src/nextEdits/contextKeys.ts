// Tells VS Code when the keys of next edits apply.

import { commands } from "vscode";

export interface Keys {
  /** There is an offer in the active editor. */
  offered: boolean;
  /** The difference of one is on show. */
  shown: boolean;
  /** What the last edit began to rename can be renamed everywhere. */
  rename: boolean;
  /** The key for this applies: an offer is on show, or the cursor is where the name was changed. */
  everywhere: boolean;
  /** Tab means an offer, and not indentation. */
  tab: boolean;
}

export const NO_KEYS: Keys = {
  offered: false,
  shown: false,
  rename: false,
  everywhere: false,
  tab: false,
};

export class ContextKeys {
  private now: Keys = NO_KEYS;

  set(keys: Keys): void {
    for (const name of ["offered", "shown", "rename", "everywhere", "tab"] as const) {
      if (keys[name] !== this.now[name]) {
        void commands.executeCommand("setContext", `intarsia.nextEdit.${name}`, keys[name]);
      }
    }
    this.now = keys;
  }
}
