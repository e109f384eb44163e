// Tells the user in a message. Its words may hold file names and code, so no link in them counts.

import { l10n, window } from "vscode";
import { translated } from "./serverWords";

type Picked = Thenable<string | undefined>;

const CANCELLED: readonly unknown[] = [-32800, -32802]; // of LSP: by the client, by the server

export function inform(message: string, ...buttons: string[]): Picked {
  return window.showInformationMessage(words(message), ...withOne(buttons, message));
}

export function warn(message: string, ...buttons: string[]): Picked {
  return window.showWarningMessage(words(message), ...withOne(buttons, message));
}

export function fail(message: string, ...buttons: string[]): Picked {
  return window.showErrorMessage(words(message), ...withOne(buttons, message));
}

/** Say why a request has failed, unless it was cancelled. */
export function warnOf(error: unknown): void {
  if (!CANCELLED.includes((error as { code?: unknown }).code)) {
    void warn(translated(reasonOf(error)));
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Break the links in a message: VS Code would run `[text](command:…)` at a click. */
export function plainText(message: string): string {
  return message.replaceAll("](", "] (");
}

const MAX_CHARS_OF_A_LINE = 45; // beside our name, in a notification without a button

/** Give a long message a button: VS Code cuts one without any off at the end of its first line. */
export function withOne(buttons: string[], message: string): string[] {
  return buttons.length > 0 || message.length <= MAX_CHARS_OF_A_LINE ? buttons : [l10n.t("OK")];
}

function words(message: string): string {
  return plainText(`Intarsia: ${message}`);
}
