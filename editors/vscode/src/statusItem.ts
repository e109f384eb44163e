// The item in the status bar, and its words for each state. A click opens the menu.

import { type Disposable, MarkdownString, StatusBarAlignment, ThemeColor, window } from "vscode";
import type { Status } from "./protocol";

/** What the session does. */
export type SessionState =
  | { kind: "searching" }
  | { kind: "missing" }
  | { kind: "settingUp"; message: string }
  | { kind: "starting"; origin: string }
  | { kind: "running"; origin: string; status: Status | null }
  | { kind: "failed"; message: string };

export class StatusItem implements Disposable {
  private readonly item = window.createStatusBarItem(
    "intarsia.status",
    StatusBarAlignment.Right,
    100,
  );

  constructor() {
    this.item.name = "Intarsia";
    this.item.command = "intarsia.menu";
    this.item.show();
  }

  show(state: SessionState, pausedMinutes: number): void {
    const { text, tooltip, isWarning } = statusText(state, pausedMinutes);
    this.item.text = text;
    this.item.tooltip = new MarkdownString(tooltip.map(literal).join("\n\n"));
    this.item.accessibilityInformation = { label: ["Intarsia", ...tooltip].join(" ") };
    this.item.backgroundColor = isWarning
      ? new ThemeColor("statusBarItem.warningBackground")
      : undefined;
  }

  dispose(): void {
    this.item.dispose();
  }
}

/** Return Markdown that shows the text as it is. */
function literal(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~&]/g, "\\$&");
}

interface StatusText {
  text: string;
  /** Lines of Markdown, one paragraph each. */
  tooltip: string[];
  isWarning: boolean;
}

const NAME = "Intarsia";

/** The key of package.json for "Trigger Inline Suggestion". */
const UNSURE = "unsure: Alt+\\ shows it";

/** @param pausedMinutes remaining minutes of a pause; 0: none */
export function statusText(state: SessionState, pausedMinutes: number): StatusText {
  switch (state.kind) {
    case "searching":
      return calm(`$(sync~spin) ${NAME}`, "Looking for the language server.");
    case "missing":
      return calm(`$(cloud-download) ${NAME}: set up`, "Its language server is not set up yet.");
    case "settingUp":
      return calm(`$(sync~spin) ${NAME}: setting up`, state.message);
    case "starting":
      return calm(`$(sync~spin) ${NAME}`, `Starting the server of ${state.origin}.`);
    case "failed":
      return warning(`$(warning) ${NAME}`, state.message);
    case "running":
      return running(state.status, state.origin, pausedMinutes);
  }
}

function running(status: Status | null, origin: string, pausedMinutes: number): StatusText {
  const server = `Server: ${origin}`;
  if (status === null) {
    return calm(`$(check) ${NAME}`, server);
  }
  const model = status.model ?? NAME;
  const percent = status.progress === null ? "" : ` ${Math.round(status.progress * 100)} %`;
  if (pausedMinutes > 0) {
    const long = pausedMinutes === Infinity ? "until a restart" : `for ${pausedMinutes} more min`;
    return calm(`$(debug-pause) ${NAME}`, `Paused ${long}.`, server);
  }
  switch (status.state) {
    case "off":
      return calm(
        `$(circle-slash) ${NAME}`,
        status.message ?? "Turned off in the settings.",
        server,
      );
    case "starting":
      return calm(`$(sync~spin) ${NAME}`, status.message ?? "The engine is starting.", server);
    case "loading":
      return calm(`$(sync~spin) ${NAME}${percent}`, status.message ?? "Loading the model.", server);
    case "ready":
      return calm(
        status.last?.unsure === true ? `$(question) ${UNSURE}` : `$(check) ${NAME}`,
        `Ready: ${model}`,
        ...status.told,
        server,
      );
    case "working":
      return calm(`$(loading~spin) ${NAME}`, `Working: ${model}`, ...status.told, server);
    case "failed":
      return warning(`$(warning) ${NAME}`, status.message ?? "The engine has failed.", server);
  }
}

function calm(text: string, ...tooltip: string[]): StatusText {
  return { text, tooltip, isWarning: false };
}

function warning(text: string, ...tooltip: string[]): StatusText {
  return { text, tooltip, isWarning: true };
}

/** Return one line on why there was no suggestion, or on the last one. */
export function whyText(state: SessionState, pausedMinutes: number): string {
  if (state.kind !== "running" || pausedMinutes > 0 || state.status === null) {
    return statusText(state, pausedMinutes).tooltip[0] ?? "";
  }
  const { status } = state;
  const [outcome, figures = ""] = status.told;
  if (status.state === "failed" || status.state === "off" || outcome === undefined) {
    return status.message ?? "There was no request yet.";
  }
  return status.last?.shown === true ? `${outcome}. ${figures}` : outcome;
}
