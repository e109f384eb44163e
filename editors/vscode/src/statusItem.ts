// The item in the status bar, and its words for each state. A click opens the menu.

import {
  type Disposable,
  l10n,
  MarkdownString,
  StatusBarAlignment,
  ThemeColor,
  window,
} from "vscode";
import type { Status } from "./protocol";
import { translated } from "./serverWords";

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
    const shown = text.replace(/\$\(.*?\) /, ""); // an icon says nothing
    const label = [...new Set([NAME, shown, ...tooltip])].join(", ");
    this.item.accessibilityInformation = { label };
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

/** @param pausedMinutes remaining minutes of a pause; 0: none */
export function statusText(state: SessionState, pausedMinutes: number): StatusText {
  switch (state.kind) {
    case "searching":
      return calm(`$(sync~spin) ${NAME}`, l10n.t("Looking for the language server."));
    case "missing":
      return calm(
        `$(cloud-download) ${l10n.t("Intarsia: set up")}`,
        l10n.t("Its language server is not set up yet."),
      );
    case "settingUp":
      return calm(`$(sync~spin) ${l10n.t("Intarsia: setting up")}`, state.message);
    case "starting":
      return calm(`$(sync~spin) ${NAME}`, l10n.t("Starting the server of {0}.", state.origin));
    case "failed":
      return warning(`$(warning) ${NAME}`, state.message);
    case "running":
      return running(state.status, state.origin, pausedMinutes);
  }
}

function running(status: Status | null, origin: string, pausedMinutes: number): StatusText {
  const server = l10n.t("Server: {0}", origin);
  const message = status?.message ? translated(status.message) : null;
  const told = status?.told.map(translated) ?? [];
  if (status === null) {
    return calm(`$(check) ${NAME}`, server);
  }
  const model = status.model ?? NAME;
  const percent = status.progress === null ? "" : ` ${Math.round(status.progress * 100)} %`;
  if (pausedMinutes > 0) {
    const paused =
      pausedMinutes === Infinity
        ? l10n.t("Paused until a restart.")
        : l10n.t("Paused for {0} more min.", pausedMinutes);
    return calm(`$(debug-pause) ${NAME}`, paused, server);
  }
  switch (status.state) {
    case "off":
      return calm(
        `$(circle-slash) ${NAME}`,
        message ?? l10n.t("Turned off in the settings."),
        server,
      );
    case "starting":
      return calm(`$(sync~spin) ${NAME}`, message ?? l10n.t("The engine is starting."), server);
    case "loading":
      return calm(
        `$(sync~spin) ${NAME}${percent}`,
        message ?? l10n.t("Loading the model."),
        server,
      );
    case "ready":
      return calm(
        status.last?.unsure === true
          ? `$(question) ${l10n.t("unsure: Alt+\\ shows it")}`
          : `$(check) ${NAME}`,
        l10n.t("Ready: {0}", model),
        ...told,
        server,
      );
    case "working":
      return calm(`$(loading~spin) ${NAME}`, l10n.t("Working: {0}", model), ...told, server);
    case "failed":
      return warning(`$(warning) ${NAME}`, message ?? l10n.t("The engine has failed."), server);
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
  const [outcome, figures = ""] = status.told.map(translated);
  if (status.state === "failed" || status.state === "off" || outcome === undefined) {
    return status.message ? translated(status.message) : l10n.t("There was no request yet.");
  }
  return status.last?.shown === true ? `${outcome}. ${figures}` : outcome;
}
