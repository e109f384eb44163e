// Turns suggestions off and on: all, those that nobody asked for, those of a language, or for a while.

import { ConfigurationTarget, l10n, type Uri, window, workspace } from "vscode";
import { inform } from "./messages";

const TOLD = {
  enabled: { on: l10n.t("Intarsia is on"), off: l10n.t("Intarsia is off") },
  automatic: {
    on: l10n.t("Intarsia suggests by itself again"),
    off: l10n.t("Intarsia suggests only when asked"),
  },
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
    void inform(l10n.t("open a file in that language first"));
    return;
  }
  const language = document.languageId;
  const disabled = disabledLanguages(document.uri);
  const others = disabled.filter((id) => id !== language);
  const isOff = others.length < disabled.length;
  await change(document.uri, "disabledLanguages", isOff ? others : [...disabled, language]);
  tell(
    isOff
      ? l10n.t("Intarsia is on for {0}", language)
      : l10n.t("Intarsia is off for {0}", language),
  );
}

/** Return the languages without suggestions, in the folder of a document. */
export function disabledLanguages(document: Uri): readonly string[] {
  return workspace.getConfiguration("intarsia", document).get<string[]>("disabledLanguages", []);
}

/** Ask for how many minutes to pause. "In this workspace" is a setting, and no pause. */
export async function askForMinutes(): Promise<number | undefined> {
  const here = { label: l10n.t("In this workspace, until you turn it on"), minutes: 0 };
  const choices = [
    ...[5, 15, 60].map((minutes) => ({ label: l10n.t("For {0} minutes", minutes), minutes })),
    { label: l10n.t("Until VS Code is restarted"), minutes: Infinity },
    ...(workspace.workspaceFolders === undefined ? [] : [here]),
  ];
  const picked = await window.showQuickPick(choices, { title: l10n.t("Intarsia: Snooze") });
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
  window.setStatusBarMessage(what, 4000);
}
