// Renames everywhere by another language server, in place of the offers; else by ours. The old name
// is put back for another server: it sees the text before the user's edit, and knows every use.

import {
  commands,
  l10n,
  Position,
  ProgressLocation,
  Range,
  type TextDocument,
  type TextDocumentContentChangeEvent,
  type TextEditor,
  window,
  workspace,
  WorkspaceEdit,
} from "vscode";
import {
  type LanguageClient,
  type Position as LspPosition,
  TextDocumentEdit,
} from "vscode-languageclient/node";
import { reasonOf, warn } from "../messages";
import { execute, RENAME_COMMAND, RENAMING, type Rename, type RenameResult } from "../protocol";
import { translated } from "../serverWords";
import { rangeOf } from "./offers";

const TIMEOUT_MS = 10_000;
const MESSAGE_MS = 4000;
const NUM_TRIES = 20;

/** Why another server has not renamed, in words for the user. */
class NotRenamed extends Error {}

export class Renaming {
  private readonly languages = new Set<string>(); // in which something can rename
  private isRunning = false;

  constructor(private readonly client: () => LanguageClient) {}

  /** Whether a language server of the document is known to rename. */
  isPossible({ languageId }: TextDocument): boolean {
    return this.languages.has(languageId);
  }

  /** Find out whether a language server of the document can rename; the user's text stays. */
  async probe(document: TextDocument, rename: Rename): Promise<void> {
    const at = rename.ranges.find(({ start }) => start.line === rename.position.line)?.start;
    if (this.isPossible(document) || at === undefined) {
      return;
    }
    try {
      const edit = await requested(document, positionOf(at), rename.newName);
      // Without any provider VS Code answers with an empty edit; one that cannot gives a reason.
      if (edit === undefined || edit.size === 0) {
        return;
      }
    } catch (error) {
      if (error instanceof NotRenamed) {
        return; // no answer in time
      }
    }
    this.languages.add(document.languageId);
  }

  /** Rename everywhere; where this cannot be done, the text is as it was, and the user told why. */
  async rename(editor: TextEditor, rename: Rename): Promise<void> {
    if (this.isRunning) {
      return;
    }
    this.isRunning = true;
    const title = l10n.t("Intarsia: renaming {0} to {1}", rename.oldName, rename.newName);
    const location = ProgressLocation.Window;
    try {
      await window.withProgress({ location, title }, async () => {
        let outcome: number | string = l10n.t("no language server here can rename");
        if (this.isPossible(editor.document)) {
          outcome = await this.told(() => renamed(editor, rename));
        }
        if (typeof outcome === "string" && rename.elsewhere !== undefined) {
          outcome = await this.told(() => renamedByUs(this.client(), editor.document));
        }
        show(rename, outcome);
      });
    } finally {
      this.isRunning = false;
    }
  }

  /** Rename, and tell our server how it goes; return how many files were changed, or why none. */
  private async told(work: () => Promise<number>): Promise<number | string> {
    await this.tell("begun");
    const outcome = await work().catch(reasonOf);
    await this.tell(typeof outcome === "string" ? "failed" : "done");
    return outcome;
  }

  private async tell(state: "begun" | "done" | "failed"): Promise<void> {
    try {
      await this.client().sendNotification(RENAMING, { state });
    } catch {
      // our server has ended: it looks at no change then, and a rename needs another one
    }
  }
}

/** Rename, and put the new name where it is missing then; return how many files were changed. */
async function renamed(editor: TextEditor, rename: Rename): Promise<number> {
  const { document } = editor;
  const typed = document.getText();
  const places = rename.ranges.map(rangeOf).map(({ start, end }) => ({
    start: document.offsetAt(start),
    end: document.offsetAt(end),
  }));
  const names = new KeptNames(placesAfter(places, rename.oldName));
  const version = document.version + 1; // once the old name is back
  const following = workspace.onDidChangeTextDocument(({ document: changed, contentChanges }) => {
    if (changed === document && changed.version > version) {
      names.change(contentChanges);
    }
  });
  try {
    const isThere = places.every((place) => textAt(document, place) === rename.newName);
    if (!isThere || !(await replace(editor, places, rename.oldName))) {
      throw new NotRenamed(l10n.t("the document has changed"));
    }
    const numFiles = await renamedByServer(document, version, rename).finally(() =>
      putNew(editor, names, rename),
    );
    if (numFiles === 1 && document.getText() === typed) {
      throw new NotRenamed(l10n.t("no other use was found"));
    }
    return numFiles;
  } finally {
    following.dispose();
  }
}

/** Have the server rename in this version of the document; return how many files were changed. */
async function renamedByServer(
  document: TextDocument,
  version: number,
  rename: Rename,
): Promise<number> {
  const at = positionOf(rename.position);
  const edit = await requested(document, at, rename.newName);
  if (document.version !== version) {
    throw new NotRenamed(l10n.t("the document has changed"));
  }
  const isThere = edit?.get(document.uri).some(({ range }) => range.contains(at)) ?? false;
  if (edit === undefined || !isThere) {
    throw new NotRenamed(l10n.t("the language server found nothing to rename"));
  }
  if (!(await workspace.applyEdit(edit, { isRefactoring: true }))) {
    throw new NotRenamed(l10n.t("VS Code has not applied the edit"));
  }
  return edit.size;
}

/** Rename what our server finds in the texts as they are; return how many files were changed. */
async function renamedByUs(client: LanguageClient, document: TextDocument): Promise<number> {
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  const argument = { textDocument: { uri }, apply: false };
  const { edit, reason } = await execute<RenameResult>(client, RENAME_COMMAND, argument);
  if (edit === null) {
    throw new NotRenamed(reason === null ? l10n.t("nothing was found") : translated(reason));
  }
  const all = await client.protocol2CodeConverter.asWorkspaceEdit(edit);
  for (const change of (edit.documentChanges ?? []).filter((it) => TextDocumentEdit.is(it))) {
    const { uri: name, version } = change.textDocument;
    const key = client.protocol2CodeConverter.asUri(name).toString();
    const open = workspace.textDocuments.find((it) => it.uri.toString() === key);
    if (version === null ? open?.isDirty === true : open?.version !== version) {
      throw new NotRenamed(l10n.t("a document has changed"));
    }
  }
  if (!(await workspace.applyEdit(all, { isRefactoring: true }))) {
    throw new NotRenamed(l10n.t("VS Code has not applied the edit"));
  }
  return all.size;
}

/** Put the new name where the old one still is: nothing of the user's edit may be lost. */
async function putNew(editor: TextEditor, names: KeptNames, rename: Rename): Promise<void> {
  const { document } = editor;
  for (let tries = 0; tries < NUM_TRIES; tries += 1) {
    const places = names.places.filter((place) => textAt(document, place) === rename.oldName);
    if (places.length === 0 || (await replace(editor, places, rename.newName))) {
      return;
    }
  }
}

/** Replace places by a name; false if the document has changed meanwhile. */
async function replace(
  editor: TextEditor,
  places: readonly Place[],
  name: string,
): Promise<boolean> {
  const { document } = editor;
  const ranges = places.map((place) => rangeAt(document, place));
  if (window.visibleTextEditors.includes(editor)) {
    const options = { undoStopBefore: false, undoStopAfter: false }; // of the newest step of undo
    const edited = editor.edit((change) => {
      for (const range of ranges) {
        change.replace(range, name);
      }
    }, options);
    return edited.then(
      (isDone) => isDone,
      () => false, // the editor is closed
    );
  }
  const edit = new WorkspaceEdit();
  for (const range of ranges) {
    edit.replace(document.uri, range, name);
  }
  return workspace.applyEdit(edit);
}

/** Return what a language server would rename, if it answers in time. */
async function requested(
  { uri }: TextDocument,
  at: Position,
  newName: string,
): Promise<WorkspaceEdit | undefined> {
  const command = "vscode.executeDocumentRenameProvider";
  const answer = commands.executeCommand<WorkspaceEdit | undefined>(command, uri, at, newName);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = l10n.t("the language server has not answered in {0} s", TIMEOUT_MS / 1000);
    timer = setTimeout(() => reject(new NotRenamed(message)), TIMEOUT_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function show({ oldName, newName }: Rename, outcome: number | string): void {
  if (typeof outcome === "string") {
    void warn(l10n.t("not renamed, and the offers are as before: {0}", outcome));
    return;
  }
  const words =
    outcome === 1
      ? l10n.t("Intarsia: renamed {0} to {1} in 1 file", oldName, newName)
      : l10n.t("Intarsia: renamed {0} to {1} in {2} files", oldName, newName, outcome);
  window.setStatusBarMessage(words, MESSAGE_MS);
}

function positionOf({ line, character }: LspPosition): Position {
  return new Position(line, character);
}

function textAt(document: TextDocument, place: Place): string {
  return document.getText(rangeAt(document, place));
}

function rangeAt(document: TextDocument, { start, end }: Place): Range {
  return new Range(document.positionAt(start), document.positionAt(end));
}

/** A range of a text, in UTF-16 units; `end` is exclusive. */
export interface Place {
  start: number;
  end: number;
}

/** Follows where a name is in a text that changes, so that it can be replaced there later. */
export class KeptNames {
  /** @param places of the names that nothing has changed, in the order that they were given */
  constructor(public places: readonly Place[]) {}

  /** Take the changes of one event, which are ranges of the text before it. Names that are changed end. */
  change(changes: readonly Omit<TextDocumentContentChangeEvent, "range">[]): void {
    this.places = this.places.flatMap(({ start, end }) => {
      let shift = 0;
      for (const { rangeOffset, rangeLength, text } of changes) {
        if (rangeOffset + rangeLength <= start) {
          shift += text.length - rangeLength;
        } else if (rangeOffset < end) {
          return [];
        }
      }
      return [{ start: start + shift, end: end + shift }];
    });
  }
}

/** Return where the new name's places are once the old name is in them. */
export function placesAfter(places: readonly Place[], oldName: string): Place[] {
  let shift = 0;
  return [...places]
    .sort((one, other) => one.start - other.start)
    .map(({ start, end }) => {
      const place = { start: start + shift, end: start + shift + oldName.length };
      shift += oldName.length - (end - start);
      return place;
    });
}
