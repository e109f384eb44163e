// Says in words what is drawn of next edits: a screen reader reads no drawing. VS Code lets an
// extension alert by nothing but an item of the status bar.

import { posix } from "node:path";
import { type Disposable, l10n, StatusBarAlignment, type TextEditor, window } from "vscode";
import type { NextEdit } from "../protocol";
import { isForScreenReader } from "../screenReader";
import { linesOf, type Offers } from "./offers";
import type { ShownOffers } from "./shownOffers";
import type { Typing } from "./typing";

export class SpokenOffers implements Disposable {
  private readonly item = window.createStatusBarItem("intarsia.nextEdit", StatusBarAlignment.Left);

  constructor(
    private readonly offers: Offers,
    private readonly shown: ShownOffers,
    private readonly typing: Typing,
  ) {
    this.item.name = l10n.t("Intarsia: next edit");
  }

  /** Say what is on show in the active editor, else what is offered there; each of it once. */
  update(): void {
    const editor = window.activeTextEditor;
    const words = editor && isForScreenReader() && !this.typing.isOn ? this.words(editor) : null;
    if (words === null) {
      this.item.hide();
      return;
    }
    this.item.text = words;
    this.item.accessibilityInformation = { label: words, role: "alert" };
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  private words(editor: TextEditor): string | null {
    const shown = this.shown.oneIn(editor);
    const next = this.offers.find(editor);
    const elsewhere = this.offers.elsewhere(editor);
    if (shown !== undefined) {
      const line = shown.range.start.line + 1;
      return l10n.t(
        "Intarsia: line {0} becomes: {1}. Alt+] applies it, Escape dismisses it.",
        line,
        spoken(shown),
      );
    }
    if (next !== undefined) {
      const line = next.range.start.line + 1;
      return l10n.t("Intarsia: next edit in line {0}, Alt+] shows it", line);
    }
    if (elsewhere === undefined) {
      return null;
    }
    const name = posix.basename(this.offers.uriOf(elsewhere.uri).path);
    const line = elsewhere.range.start.line + 1;
    return l10n.t("Intarsia: next edit in {0}, line {1}, Alt+] shows it", name, line);
  }
}

function spoken({ newText }: NextEdit): string {
  const lines = linesOf(newText).map((line) => line.trim());
  return lines.join(" ") || l10n.t("(delete)");
}
