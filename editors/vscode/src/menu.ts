// The menu that a click on the status item opens.

import { commands, type QuickPickItem, QuickPickItemKind, type TextDocument, window } from "vscode";
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
      ? [choice("cloud-download", "Set up the server…", "setUpServer")]
      : []),
    { label: "", kind: QuickPickItemKind.Separator },
    choice("output", "Open the log", "openLog"),
    ...(isRunning ? [choice("heart", "Doctor: what works, what is missing", "doctor")] : []),
    choice("debug-restart", "Restart the server", "restart"),
    setting("gear", "Settings", "intarsia."),
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
      ? choice("debug-start", "Resume", "resume")
      : choice("debug-pause", "Snooze…", "snooze");
  return [
    pause,
    choice("circle-slash", "Turn off or on", "toggle"),
    ...toggle,
    choice("keyboard", "Only when asked, or also by itself", "toggleAutomatic"),
    choice("question", "Why was nothing shown?", "showWhy"),
    choice("eye", "Show what the model sees", "showContext"),
    setting("wand", "Next edits: how sure they must be", "@id:intarsia.nextEdit"),
    choice("chip", "Choose the model…", "chooseModel"),
    choice("graph", "Statistics: what you accepted", "showStatistics"),
  ];
}

function toggleChoice({ languageId, uri }: TextDocument): Choice {
  return disabledLanguages(uri).includes(languageId)
    ? choice("circle-large-outline", `Turn on for ${languageId}`, "toggleLanguage")
    : choice("circle-slash", `Turn off for ${languageId}`, "toggleLanguage");
}

function setting(icon: string, label: string, query: string): Choice {
  const run = () => commands.executeCommand("workbench.action.openSettings", query);
  return { label: `$(${icon}) ${label}`, run };
}

function choice(icon: string, label: string, command: string): Choice {
  const run = () => commands.executeCommand(`intarsia.${command}`);
  return { label: `$(${icon}) ${label}`, run };
}
