// The item in the status bar; a click opens the menu.

import { type Disposable, MarkdownString, StatusBarAlignment, ThemeColor, window } from "vscode";
import type { SessionState } from "./sessionState";
import { statusText } from "./statusText";

export class StatusItem implements Disposable {
  private readonly item = window.createStatusBarItem(
    "intarsia.status",
    StatusBarAlignment.Right,
    100,
  );

  constructor() {
    this.item.name = "Intarsia";
    this.item.command = "intarsia.menu";
    this.item.show();
  }

  show(state: SessionState, pausedMinutes: number): void {
    const { text, tooltip, isWarning } = statusText(state, pausedMinutes);
    this.item.text = text;
    this.item.tooltip = new MarkdownString(tooltip.map(literal).join("\n\n"));
    this.item.accessibilityInformation = { label: ["Intarsia", ...tooltip].join(" ") };
    this.item.backgroundColor = isWarning
      ? new ThemeColor("statusBarItem.warningBackground")
      : undefined;
  }

  dispose(): void {
    this.item.dispose();
  }
}

/** Return Markdown that shows the text as it is. */
function literal(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~&]/g, "\\$&");
}
