// Entry point. It loads little; the language client is loaded once a server is found.

import { commands, type ExtensionContext, Selection, Uri, window, workspace } from "vscode";
import { offeredAction, resolveEdit, RUN_COMMANDS } from "./edits/codeActions";
import { EditPreview } from "./edits/editPreview";
import { showMenu } from "./menu";
import { inform } from "./messages";
import type { Asked as NextEditAsked } from "./nextEdits/nextEdits";
import { Pause } from "./pause";
import type { EditArguments } from "./protocol";
import { SeenContextView } from "./seenContext";
import { Session } from "./session";
import { StatusItem, whyText } from "./statusItem";
import { askForMinutes, toggle, toggleLanguage } from "./switches";
import { runInTerminal } from "./terminal";

const SAMPLE_PLACE = /for word in text/; // the cursor is put on the line below

let current: Session | null = null;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel("Intarsia", { log: true });
  const pause = new Pause();
  const item = new StatusItem();
  const session = new Session(context, log, pause, () => show());
  current = session;
  const show = () => item.show(session.state, pause.minutesLeft);
  const clock = setInterval(() => (pause.isOver ? setPaused(null) : pause.isOn && show()), 5_000);

  const setPaused = (minutes: number | null) => {
    if (minutes === null) {
      pause.end();
    } else {
      pause.start(minutes);
    }
    void commands.executeCommand("setContext", "intarsia.paused", minutes !== null);
    void commands.executeCommand("editor.action.inlineSuggest.hide");
    session.nextEdits?.update();
    show();
  };

  const preview = new EditPreview();
  const seenContext = new SeenContextView();
  const edit = async (kind: EditArguments["kind"], atCursors = false) => {
    const { edit } = await import("./edits/edits");
    await (session.client && edit(session.client, preview, kind, atCursors));
  };

  const inTerminal = (...words: string[]) =>
    session.program && runInTerminal(session.program, session.folder, ...words);
  const table: Record<string, (...args: never[]) => unknown> = {
    menu: () => showMenu(session.state, pause.minutesLeft),
    snooze: async () => setPaused((await askForMinutes()) ?? null),
    resume: () => setPaused(null),
    toggle: () => toggle("enabled"),
    toggleAutomatic: () => toggle("automatic"),
    toggleLanguage,
    showWhy: () => inform(whyText(session.state, pause.minutesLeft)),
    openLog: () => log.show(),
    restart: () => session.restart(),
    setUpServer: () => session.setUp(),
    reinstallServer: () => session.setUp(),
    chooseModel: async () => {
      const { chooseModel } = await import("./models");
      await (session.program && chooseModel(session.program, session.folder));
    },
    doctor: () => inTerminal("doctor"),
    showStatistics: () => inTerminal("status", "--stats"),
    openSample: () => openSample(context),
    acceptSure: async () => {
      const { acceptSure } = await import("./acceptSure");
      await (session.ghostText && acceptSure(session.ghostText));
    },
    chooseSuggestion: async () => {
      const { chooseSuggestion } = await import("./chooseSuggestion");
      await (session.client && chooseSuggestion(session.client));
    },
    dismiss: () => session.ghostText?.dismiss(),
    showNextEdit: (asked?: NextEditAsked) => session.nextEdits?.next(asked),
    applyNextEdit: (asked?: NextEditAsked) => session.nextEdits?.apply(asked),
    dismissNextEdit: (asked?: NextEditAsked) => session.nextEdits?.dismiss(asked),
    applyAllNextEdits: () => session.nextEdits?.applyAll(),
    renameEverywhere: (asked?: NextEditAsked) => session.nextEdits?.renameEverywhere(asked),
    showContext: () => session.client && seenContext.show(session.client),
    fillSelection: () => edit("fill"),
    rewriteSelection: () => edit("rewrite"),
    instructSelection: () => edit("instruct"),
    writeDocstring: () => edit("document"),
    fillAllHoles: () => edit("fillAll"),
    fillAtCursors: () => edit("fillAll", true),
  };
  const runCodeAction = async (index: number) => {
    const { applyEdit } = await import("./edits/applyEdit");
    const action = offeredAction(index);
    const edit = session.client && action && (await resolveEdit(session.client, action));
    await (session.client && edit && applyEdit(session.client, preview, edit, action.title));
  };
  for (const [index, command] of RUN_COMMANDS.entries()) {
    context.subscriptions.push(commands.registerCommand(command, () => runCodeAction(index)));
  }
  for (const [name, run] of Object.entries(table)) {
    context.subscriptions.push(commands.registerCommand(`intarsia.${name}`, run));
  }
  context.subscriptions.push(
    log,
    item,
    session,
    preview,
    seenContext,
    { dispose: () => clearInterval(clock) },
    workspace.onDidGrantWorkspaceTrust(() => session.reconsider()),
    workspace.onDidChangeWorkspaceFolders(() => session.foldersChanged()),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("intarsia.serverCommand")) {
        void session.reconsider();
      }
    }),
  );
  show();
  void session.start();
}

export async function deactivate(): Promise<void> {
  await current?.stop();
}

/** Open a fresh copy of the sample, the cursor on its empty line, and ask for a suggestion there. */
async function openSample(context: ExtensionContext): Promise<void> {
  const source = Uri.joinPath(context.extensionUri, "walkthrough", "sample.py");
  const copy = Uri.joinPath(context.globalStorageUri, "first_minutes.py");
  await workspace.fs.copy(source, copy, { overwrite: true });
  const document = await workspace.openTextDocument(copy);
  const editor = await window.showTextDocument(document);
  const at = document.getText().search(SAMPLE_PLACE);
  const end = document.lineAt(document.positionAt(at).line + 1).range.end;
  editor.selection = new Selection(end, end);
  editor.revealRange(editor.selection);
  await commands.executeCommand("type", { text: " " }); // as a user would: it requests one suggestion
}
