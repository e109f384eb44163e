// Tells whether the user is typing: then nothing is drawn at the cursor, and Tab is a tab.

import type { Disposable } from "vscode";

/** Each change of the text counts as typing for so long. */
const TYPING_MS = 500;

export class Typing implements Disposable {
  private timer: NodeJS.Timeout | undefined;

  /** @param onEnd called when no change has come for that time */
  constructor(private readonly onEnd: () => void) {}

  get isOn(): boolean {
    return this.timer !== undefined;
  }

  /** Take a change of the text. */
  start(): void {
    this.end();
    this.timer = setTimeout(() => {
      this.end();
      this.onEnd();
    }, TYPING_MS);
  }

  /** End at once: the last change was not typed, but an offer that was accepted. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  dispose(): void {
    this.end();
  }
}
