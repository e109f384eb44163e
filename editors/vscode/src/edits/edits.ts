// Inline edits by command: fill a selection, rewrite it, fill all holes. The server computes the edit,
// and the user sees it before it is applied.

import { randomUUID } from "node:crypto";

import { l10n, ProgressLocation, Range, window, workspace } from "vscode";
import {
  ExecuteCommandRequest,
  type LanguageClient,
  WorkDoneProgress,
} from "vscode-languageclient/node";
import { applyEdit } from "./applyEdit";
import type { EditPreview } from "./editPreview";
import { inform, plainText, warn, warnOf } from "../messages";
import { EDIT_COMMAND, type EditArguments, type EditResult } from "../protocol";
import { translated } from "../serverWords";

const TITLES: Readonly<Record<EditArguments["kind"], string>> = {
  fill: l10n.t("Fill the selection"),
  fillAll: l10n.t("Fill all holes"),
  rewrite: l10n.t("Rewrite the selection"),
  instruct: l10n.t("Edit the selection"),
  document: l10n.t("Write a docstring"),
};

/**
 * Edit the selection; `fillAll` without one: the whole file, or with `atCursors` the places of all
 * cursors and selections. Some kinds first ask how.
 */
export async function edit(
  client: LanguageClient,
  preview: EditPreview,
  kind: EditArguments["kind"],
  atCursors = false,
): Promise<void> {
  const editor = window.activeTextEditor;
  const selection = !atCursors && editor?.selection.isEmpty === false ? editor.selection : null;
  const needsNone = kind === "fillAll" || kind === "document";
  if (editor === undefined || (selection === null && !needsNone)) {
    void warn(needsNone ? l10n.t("open a file first") : l10n.t("select the code first"));
    return;
  }
  const asked = kind in QUESTIONS ? await QUESTIONS[kind]?.() : {};
  if (asked === undefined) {
    return;
  }
  const { document } = editor;
  const { version } = document;
  const where = kind === "document" ? editor.selection : selection;
  const converter = client.code2ProtocolConverter;
  const request: EditArguments = {
    kind,
    textDocument: { uri: converter.asUri(document.uri), version },
    range: where && converter.asRange(new Range(where.start, where.end)),
    ...(atCursors && { ranges: editor.selections.map((it) => converter.asRange(it)) }),
    apply: false,
    ...asked,
  };
  const result = await send(client, request);
  if (result === null) {
    return;
  }
  if (result.caution !== null) {
    void inform(translated(result.caution));
  }
  if (result.edit !== null) {
    await applyEdit(client, preview, result.edit, TITLES[kind]);
  }
  if (result.reason !== null) {
    const why = translated(result.reason);
    const part = l10n.t("{0} of {1} filled: {2}", result.filled, result.holes, why);
    void warn(result.edit === null ? why : part);
  }
}

/** Send the request, with progress that can be cancelled; null: no answer. */
async function send(client: LanguageClient, request: EditArguments): Promise<EditResult | null> {
  const options = {
    location: ProgressLocation.Notification,
    title: `Intarsia: ${TITLES[request.kind]}`,
    cancellable: true,
  };
  return window.withProgress(options, async (progress, token) => {
    const workDoneToken = randomUUID();
    let reported = 0;
    const subscription = client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
      const percentage = "percentage" in value ? (value.percentage ?? reported) : reported;
      const message = "message" in value ? value.message : undefined;
      progress.report({
        message: message && plainText(translated(message)),
        increment: percentage - reported,
      });
      reported = percentage;
    });
    try {
      const params = { command: EDIT_COMMAND, arguments: [request], workDoneToken };
      return (await client.sendRequest(ExecuteCommandRequest.type, params, token)) as EditResult;
    } catch (error) {
      if (!token.isCancellationRequested) {
        warnOf(error);
      }
      return null;
    } finally {
      subscription.dispose();
    }
  });
}

type Asked = Pick<EditArguments, "noise" | "instruction">;

/** What the user is asked before an edit; undefined: they want none. */
const QUESTIONS: Readonly<Record<string, () => Promise<Asked | undefined>>> = {
  rewrite: askForNoise,
  instruct: async () => {
    const instruction = await window.showInputBox({
      title: l10n.t("Edit the selection by an instruction"),
      placeHolder: l10n.t("make it async; add a docstring; log each error"),
    });
    return instruction?.trim() ? { instruction } : undefined;
  },
};

async function askForNoise(): Promise<Asked | undefined> {
  const usual = workspace.getConfiguration("intarsia").get<number>("rewriteNoise", 0.4);
  const levels = [
    { label: l10n.t("Touch up"), noise: 0.25, description: l10n.t("replaces a quarter") },
    { label: l10n.t("Rework"), noise: 0.5, description: l10n.t("replaces half") },
    { label: l10n.t("Recast"), noise: 0.75, description: l10n.t("replaces three quarters") },
    { label: l10n.t("From scratch"), noise: 1, description: l10n.t("replaces everything") },
  ];
  const share = l10n.t("replaces {0} %, as in your settings", Math.round(usual * 100));
  const custom = { label: l10n.t("As usual"), noise: usual, description: share };
  const first = levels.find(({ noise }) => noise === usual) ?? custom;
  const picked = await window.showQuickPick([first, ...levels.filter((level) => level !== first)], {
    title: TITLES.rewrite,
    placeHolder: l10n.t("How much of it may change?"),
  });
  return picked && { noise: picked.noise };
}
