// The menu that a click on the status item opens.

import {
  commands,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  type TextDocument,
  ThemeIcon,
  window,
} from "vscode";
import { type SessionState, statusText } from "./statusItem";
import { disabledLanguages } from "./switches";

interface Choice extends QuickPickItem {
  run?: () => unknown;
}

export async function showMenu(session: SessionState, pausedMinutes: number): Promise<void> {
  const isRunning = session.kind === "running";
  const choices: Choice[] = [
    ...(isRunning ? suggestionChoices(pausedMinutes) : []),
    ...(session.kind === "missing"
      ? [choice("cloud-download", l10n.t("Set up the server…"), "setUpServer")]
      : []),
    { label: "", kind: QuickPickItemKind.Separator },
    choice("output", l10n.t("Open the log"), "openLog"),
    ...(isRunning
      ? [choice("heart", l10n.t("Doctor: what works, what is missing"), "doctor")]
      : []),
    choice("debug-restart", l10n.t("Restart the server"), "restart"),
    setting("gear", l10n.t("Settings"), "intarsia."),
  ];
  const [placeHolder] = statusText(session, pausedMinutes).tooltip;
  const picked = await window.showQuickPick(choices, { title: "Intarsia", placeHolder });
  await picked?.run?.();
}

function suggestionChoices(pausedMinutes: number): Choice[] {
  const document = window.activeTextEditor?.document;
  const toggle = document === undefined ? [] : [toggleChoice(document)];
  const pause =
    pausedMinutes > 0
      ? choice("debug-start", l10n.t("Resume"), "resume")
      : choice("debug-pause", l10n.t("Snooze…"), "snooze");
  return [
    pause,
    choice("circle-slash", l10n.t("Turn off or on"), "toggle"),
    ...toggle,
    choice("keyboard", l10n.t("Only when asked, or also by itself"), "toggleAutomatic"),
    choice("question", l10n.t("Why was nothing shown?"), "showWhy"),
    choice("eye", l10n.t("Show what the model sees"), "showContext"),
    setting("wand", l10n.t("Next edits: how sure they must be"), "@id:intarsia.nextEdit"),
    choice("chip", l10n.t("Choose the model…"), "chooseModel"),
    choice("graph", l10n.t("Statistics: what you accepted"), "showStatistics"),
  ];
}

function toggleChoice({ languageId, uri }: TextDocument): Choice {
  return disabledLanguages(uri).includes(languageId)
    ? choice("circle-large-outline", l10n.t("Turn on for {0}", languageId), "toggleLanguage")
    : choice("circle-slash", l10n.t("Turn off for {0}", languageId), "toggleLanguage");
}

function setting(icon: string, label: string, query: string): Choice {
  const run = () => commands.executeCommand("workbench.action.openSettings", query);
  return { label, iconPath: new ThemeIcon(icon), run }; // in the label, its name would be read out
}

function choice(icon: string, label: string, command: string): Choice {
  const run = () => commands.executeCommand(`intarsia.${command}`);
  return { label, iconPath: new ThemeIcon(icon), run }; // in the label, its name would be read out
}
