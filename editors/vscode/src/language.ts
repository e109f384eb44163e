// Turns suggestions off or on for the language of the active editor.

import { ConfigurationTarget, type Uri, window, workspace } from "vscode";
import { inform } from "./messages";

const NAME = "disabledLanguages";

/** Change the value that counts here: the folder's or the workspace's where there is one. */
export async function toggleLanguage(): Promise<void> {
  const document = window.activeTextEditor?.document;
  if (document === undefined) {
    void inform("open a file in that language first.");
    return;
  }
  const language = document.languageId;
  const disabled = disabledLanguages(document.uri);
  const isOff = disabled.includes(language);
  await workspace
    .getConfiguration("intarsia", document.uri)
    .update(
      NAME,
      isOff ? disabled.filter((id) => id !== language) : [...disabled, language],
      targetOf(document.uri),
    );
  window.setStatusBarMessage(`Intarsia is ${isOff ? "on" : "off"} for ${language}`, 4000);
}

/** Return the languages without suggestions, in the folder of a document. */
export function disabledLanguages(document: Uri): readonly string[] {
  return workspace.getConfiguration("intarsia", document).get<string[]>(NAME, []);
}

function targetOf(document: Uri): ConfigurationTarget {
  const found = workspace.getConfiguration("intarsia", document).inspect<string[]>(NAME);
  if (found?.workspaceFolderValue !== undefined) {
    return ConfigurationTarget.WorkspaceFolder;
  }
  return found?.workspaceValue !== undefined
    ? ConfigurationTarget.Workspace
    : ConfigurationTarget.Global;
}
