// Inline edits by command: fill a selection, rewrite it, fill all holes. The server computes the edit,
// and the user sees it before it is applied.

import { randomUUID } from "node:crypto";

import { ProgressLocation, Range, window, workspace } from "vscode";
import {
  ExecuteCommandRequest,
  type LanguageClient,
  WorkDoneProgress,
} from "vscode-languageclient/node";
import { applyEdit } from "./applyEdit";
import type { EditPreview } from "./editPreview";
import { inform, plainText, warn, warnOf } from "../messages";
import { EDIT_COMMAND, type EditArguments, type EditResult } from "../protocol";

const TITLES: Readonly<Record<EditArguments["kind"], string>> = {
  fill: "Fill the selection",
  fillAll: "Fill all holes",
  rewrite: "Rewrite the selection",
  instruct: "Edit the selection",
  document: "Write a docstring",
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
    void warn(needsNone ? "open a file first" : "select the code first");
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
    void inform(result.caution);
  }
  if (result.edit !== null) {
    await applyEdit(client, preview, result.edit, TITLES[kind]);
  }
  if (result.reason !== null) {
    const part = result.edit === null ? "" : `${result.filled} of ${result.holes} filled: `;
    void warn(part + result.reason);
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
      progress.report({ message: message && plainText(message), increment: percentage - reported });
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
      title: "Edit the selection by an instruction",
      placeHolder: "make it async; add a docstring; log each error",
    });
    return instruction?.trim() ? { instruction } : undefined;
  },
};

async function askForNoise(): Promise<Asked | undefined> {
  const usual = workspace.getConfiguration("intarsia").get<number>("rewriteNoise", 0.4);
  const levels = [
    { label: "Touch up", noise: 0.25, description: "replaces a quarter" },
    { label: "Rework", noise: 0.5, description: "replaces half" },
    { label: "Recast", noise: 0.75, description: "replaces three quarters" },
    { label: "From scratch", noise: 1, description: "replaces everything" },
  ];
  const share = `replaces ${Math.round(usual * 100)} %, as in your settings`;
  const custom = { label: "As usual", noise: usual, description: share };
  const first = levels.find(({ noise }) => noise === usual) ?? custom;
  const picked = await window.showQuickPick([first, ...levels.filter((level) => level !== first)], {
    title: "Rewrite the selection",
    placeHolder: "How much of it may change?",
  });
  return picked && { noise: picked.noise };
}
