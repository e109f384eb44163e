// Turns suggestions off or on for the language of the active editor, in the user's settings.

import { ConfigurationTarget, window, workspace } from "vscode";

export async function toggleLanguage(): Promise<void> {
  const language = window.activeTextEditor?.document.languageId;
  if (language === undefined) {
    void window.showInformationMessage("Intarsia: open a file in that language first.");
    return;
  }
  const disabled = disabledLanguages();
  const isOff = disabled.includes(language);
  await workspace
    .getConfiguration("intarsia")
    .update(
      "disabledLanguages",
      isOff ? disabled.filter((id) => id !== language) : [...disabled, language],
      ConfigurationTarget.Global,
    );
  window.setStatusBarMessage(`Intarsia is ${isOff ? "on" : "off"} for ${language}`, 4000);
}

export function disabledLanguages(): readonly string[] {
  return workspace.getConfiguration("intarsia").get<string[]>("disabledLanguages", []);
}
