// Turns suggestions off and on: all, those that nobody asked for, those of a language, or for a while.

import { ConfigurationTarget, type Uri, window, workspace } from "vscode";
import { inform } from "./messages";

const TOLD = {
  enabled: { on: "is on", off: "is off" },
  automatic: { on: "suggests by itself again", off: "suggests only when asked" },
};

/** Turn a setting off or on that is on by default. */
export async function toggle(name: keyof typeof TOLD): Promise<void> {
  const isOn = workspace.getConfiguration("intarsia").get<boolean>(name, true);
  await change(undefined, name, !isOn);
  tell(TOLD[name][isOn ? "off" : "on"]);
}

export async function toggleLanguage(): Promise<void> {
  const document = window.activeTextEditor?.document;
  if (document === undefined) {
    void inform("open a file in that language first.");
    return;
  }
  const language = document.languageId;
  const disabled = disabledLanguages(document.uri);
  const others = disabled.filter((id) => id !== language);
  const isOff = others.length < disabled.length;
  await change(document.uri, "disabledLanguages", isOff ? others : [...disabled, language]);
  tell(`is ${isOff ? "on" : "off"} for ${language}`);
}

/** Return the languages without suggestions, in the folder of a document. */
export function disabledLanguages(document: Uri): readonly string[] {
  return workspace.getConfiguration("intarsia", document).get<string[]>("disabledLanguages", []);
}

/** Ask for how many minutes to pause. "In this workspace" is a setting, and no pause. */
export async function askForMinutes(): Promise<number | undefined> {
  const here = { label: "In this workspace, until you turn it on", minutes: 0 };
  const choices = [
    ...[5, 15, 60].map((minutes) => ({ label: `For ${minutes} minutes`, minutes })),
    { label: "Until VS Code is restarted", minutes: Infinity },
    ...(workspace.workspaceFolders === undefined ? [] : [here]),
  ];
  const picked = await window.showQuickPick(choices, { title: "Intarsia: Snooze" });
  if (picked !== here) {
    return picked?.minutes;
  }
  await workspace.getConfiguration("intarsia").update("enabled", false, false);
  return undefined;
}

/** Change the value that counts here: the folder's or the workspace's where there is one. */
async function change(document: Uri | undefined, name: string, value: unknown): Promise<void> {
  const settings = workspace.getConfiguration("intarsia", document);
  const found = settings.inspect(name);
  const target =
    found?.workspaceFolderValue !== undefined
      ? ConfigurationTarget.WorkspaceFolder
      : found?.workspaceValue !== undefined
        ? ConfigurationTarget.Workspace
        : ConfigurationTarget.Global;
  await settings.update(name, value, target);
}

function tell(what: string): void {
  window.setStatusBarMessage(`Intarsia ${what}`, 4000);
}
