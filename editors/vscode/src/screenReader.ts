// Whether VS Code is set up for a screen reader. It tells extensions of the setting alone, not of
// what it has detected itself.

import { workspace } from "vscode";

export function isForScreenReader(): boolean {
  return workspace.getConfiguration("editor").get("accessibilitySupport") === "on";
}
