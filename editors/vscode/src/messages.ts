// Tells the user in a message. Its words may hold file names and code, so no link in them counts.

import { window } from "vscode";
import { plainText } from "./plainText";

type Picked = Thenable<string | undefined>;

export function inform(message: string, ...buttons: string[]): Picked {
  return window.showInformationMessage(words(message), ...buttons);
}

export function warn(message: string, ...buttons: string[]): Picked {
  return window.showWarningMessage(words(message), ...buttons);
}

export function fail(message: string, ...buttons: string[]): Picked {
  return window.showErrorMessage(words(message), ...buttons);
}

function words(message: string): string {
  return plainText(`Intarsia: ${message}`);
}
