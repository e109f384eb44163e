// Next edits: what an edit of the user has left to change is marked, shown, accepted or dismissed.

import {
  commands,
  type Disposable,
  type Position,
  Selection,
  TextDocumentChangeReason,
  type TextEditor,
  TextEditorRevealType,
  window,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import {
  NEXT_EDIT_DONE,
  type NextEdit,
  type NextEditDone,
  type NextEdits as Offered,
  type Rename,
} from "../protocol";
import { choose, chooseHow } from "./choose";
import { ContextKeys } from "./contextKeys";
import { nextFrom, Offers, sameAmong } from "./offers";
import { changeOf, linesOfPlace, startOf } from "./place";
import { Renaming } from "./renaming";
import { type Drawing, NextEditView } from "./view";

/** After a key: nothing is drawn where the user types, and Tab is a tab. */
const TYPING_MS = 500;
/** After an offer was accepted, the next one of the same change is shown if it comes so soon. */
const GO_ON_MS = 1000;
/** VS Code still tells of earlier places of the cursor so long after it was moved. */
const ARRIVING_MS = 300;
const MESSAGE_MS = 4000;

/** What a key, a link or the palette gives to a command. */
export interface Asked {
  /** An offer; without one, the next from the cursor. */
  id?: string;
  /** VS Code's command that the key runs where there is nothing to do here. */
  otherwise?: string;
}

interface Shown {
  uri: string;
  version: number;
  edit: NextEdit;
  since: number;
}

interface Previewed {
  uri: string;
  version: number;
  edits: readonly NextEdit[];
}

interface GoingOn {
  uri: string;
  version: number;
  at: Position;
  until: number;
}

export class NextEdits implements Disposable {
  private readonly offers = new Offers();
  private readonly view = new NextEditView();
  private readonly keys = new ContextKeys();
  private readonly renaming: Renaming;
  private readonly drawnIn = new Set<TextEditor>();
  private readonly subscriptions: Disposable[];
  private shown: Shown | null = null;
  private previewed: Previewed | null = null;
  private goingOn: GoingOn | null = null;
  private typing: NodeJS.Timeout | null = null;
  private arriving: NodeJS.Timeout | undefined;

  /** @param isHidden whether something else has precedence: ghost text, or a pause */
  constructor(
    private readonly client: () => LanguageClient,
    private readonly isHidden: () => boolean,
  ) {
    this.renaming = new Renaming(client);
    const update = () => this.update();
    this.subscriptions = [
      window.onDidChangeTextEditorSelection(update),
      window.onDidChangeTextEditorVisibleRanges(update),
      window.onDidChangeActiveTextEditor(update),
      window.onDidChangeVisibleTextEditors(update),
      workspace.onDidCloseTextDocument(({ uri }) => this.offers.forget(this.nameOf(uri))),
      workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
        if (contentChanges.length > 0) {
          const isUndone =
            reason === TextDocumentChangeReason.Undo || reason === TextDocumentChangeReason.Redo;
          this.offers.changed(this.nameOf(document.uri), isUndone);
          this.shown = null;
          this.startTyping();
          this.update();
        }
      }),
    ];
  }

  /** Take what the server offers. */
  readonly receive = (offered: Offered): void => {
    this.offers.receive(offered);
    this.goOn();
    this.update();
    void this.probe();
  };

  /** Show the next offer, or accept the one on show. */
  async next({ id, otherwise }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const edit = editor && (this.shownIn(editor) ?? this.find(editor, id));
    // VS Code may have taken the key by what held a moment before.
    const isLate = otherwise !== undefined && editor !== undefined && !this.mayTab(editor);
    if (editor === undefined || edit === undefined || isLate) {
      return nothing(otherwise);
    }
    if (this.shownIn(editor) !== undefined) {
      await this.accept(editor, edit);
    } else {
      this.show(editor, edit);
    }
  }

  /** Apply an offer without showing it first. */
  async apply({ id }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const edit = editor && this.find(editor, id);
    await (editor && edit ? this.accept(editor, edit) : nothing());
  }

  /** Dismiss the offer on show, else the next one: its place stays silent. */
  async dismiss({ id }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const shown = editor && id === undefined ? this.shownIn(editor) : undefined;
    const edit = shown ?? (editor && this.find(editor, id));
    if (!editor || !edit) {
      return nothing();
    }
    this.shown = null;
    this.done(editor, edit, "dismissed");
    this.update();
  }

  /** Show all offers of the active document in a list to untick some, and apply the others. */
  async applyAll(): Promise<void> {
    const editor = window.activeTextEditor;
    const offers = editor === undefined ? [] : this.current(editor);
    if (editor === undefined || offers.length === 0) {
      return nothing();
    }
    const { version } = editor.document;
    const rename = this.renameIn(editor);
    const how = rename === undefined ? "offers" : await chooseHow(rename, offers.length);
    if (how === "rename") {
      return this.renameEverywhere();
    }
    if (how === null || editor.document.version !== version) {
      return;
    }
    const ticked = await choose(offers, (edits) => {
      this.shown = null;
      this.previewed = { uri: this.nameOf(editor.document.uri), version, edits };
      this.update();
    });
    this.previewed = null;
    if (ticked !== null && ticked.length > 0 && editor.document.version === version) {
      await this.applyAtOnce(editor, ticked);
    }
    this.update();
  }

  /** Have the language server rename everywhere what the last edit began to rename. */
  async renameEverywhere({ otherwise }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const rename = editor && this.renameIn(editor);
    if (!editor || !rename) {
      return nothing(otherwise);
    }
    this.shown = null;
    await this.renaming.rename(editor, rename);
    this.update();
  }

  /** Draw what is offered now, and tell VS Code which keys apply. */
  readonly update = (): void => {
    for (const editor of this.drawnIn) {
      if (!window.visibleTextEditors.includes(editor)) {
        this.drawnIn.delete(editor);
      }
    }
    const active = window.activeTextEditor;
    const offered = active !== undefined && this.current(active).length > 0;
    const shown = this.isShowing();
    // First the keys: what is drawn says that they apply.
    const rename = offered && this.renameIn(active) !== undefined;
    this.keys.set({ offered, shown, rename, tab: offered && this.mayTab(active) });
    for (const editor of window.visibleTextEditors) {
      this.draw(editor);
    }
  };

  /** Whether the difference of an offer is on show: a suggestion would come between. */
  isShowing(): boolean {
    const editor = window.activeTextEditor;
    return editor !== undefined && this.shownIn(editor) !== undefined;
  }

  dispose(): void {
    this.keys.set({ offered: false, shown: false, rename: false, tab: false });
    clearTimeout(this.typing ?? undefined);
    clearTimeout(this.arriving);
    this.view.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** Return what may be drawn and accepted in an editor now, in the order of lines. */
  private current({ document }: TextEditor): NextEdit[] {
    return this.isHidden() ? [] : this.offers.at(this.nameOf(document.uri), document.version);
  }

  /** Return the rename that a language server can do in place of the offers. */
  private renameIn(editor: TextEditor): Rename | undefined {
    const { document } = editor;
    const isPossible = this.current(editor).length > 0 && this.renaming.isPossible(document);
    return isPossible
      ? this.offers.renameAt(this.nameOf(document.uri), document.version)
      : undefined;
  }

  /** Find out whether a language server can rename, before the user may want it. */
  private async probe(): Promise<void> {
    const editor = window.activeTextEditor;
    const document = editor?.document;
    const rename = document && this.offers.renameAt(this.nameOf(document.uri), document.version);
    if (document && rename && !this.renaming.isPossible(document)) {
      if (await this.renaming.probe(document, rename)) {
        this.update();
      }
    }
  }

  /** Whether Tab means an offer. */
  private mayTab(editor: TextEditor): boolean {
    return (
      this.shownIn(editor) !== undefined || (this.typing === null && hasNothingToIndent(editor))
    );
  }

  private find(editor: TextEditor, id?: string): NextEdit | undefined {
    const offers = this.current(editor);
    return id === undefined
      ? nextFrom(offers, editor.selection.active.line)
      : offers.find((edit) => edit.id === id);
  }

  /** Return the offer whose difference is on show in an editor; it ends where the cursor leaves. */
  private shownIn(editor: TextEditor): NextEdit | undefined {
    const { shown } = this;
    const { document, selection } = editor;
    if (
      shown?.uri !== this.nameOf(document.uri) ||
      shown.version !== document.version ||
      editor !== window.activeTextEditor
    ) {
      return undefined;
    }
    const edit = sameAmong(this.current(editor), shown.edit);
    const [first, last] = edit === undefined ? [0, -1] : linesOfPlace(document, edit);
    const { line } = selection.active;
    const isArriving = Date.now() < shown.since + ARRIVING_MS;
    if (edit !== undefined && !isArriving && (line < first || line > last)) {
      this.shown = null;
      return undefined;
    }
    return edit;
  }

  private show(editor: TextEditor, edit: NextEdit): void {
    const { document } = editor;
    const at = startOf(document, edit);
    editor.selection = new Selection(at, at);
    editor.revealRange(editor.selection, TextEditorRevealType.InCenterIfOutsideViewport);
    const uri = this.nameOf(document.uri);
    this.shown = { uri, version: document.version, edit, since: Date.now() };
    clearTimeout(this.arriving);
    this.arriving = setTimeout(this.update, ARRIVING_MS); // the cursor may have left meanwhile
    this.update();
  }

  private async accept(editor: TextEditor, edit: NextEdit): Promise<void> {
    const { document } = editor;
    const { range, text } = changeOf(document, edit);
    const start = document.offsetAt(range.start);
    if (!(await this.applyAtOnce(editor, [edit]))) {
      return;
    }
    const at = document.positionAt(start + text.length);
    editor.selection = new Selection(at, at);
    const uri = this.nameOf(document.uri);
    this.goingOn = { uri, version: document.version, at, until: Date.now() + GO_ON_MS };
    this.goOn();
    this.update();
  }

  /** Apply offers as one step of undo; return whether it was possible. */
  private async applyAtOnce(editor: TextEditor, edits: readonly NextEdit[]): Promise<boolean> {
    this.shown = null;
    const changes = edits.map((edit) => changeOf(editor.document, edit));
    // VS Code itself refuses it if the document has changed meanwhile.
    const isDone = await editor.edit((change) => {
      for (const { range, text } of changes) {
        change.replace(range, text);
      }
    });
    if (isDone) {
      for (const edit of edits) {
        this.done(editor, edit, "accepted");
      }
      this.endTyping();
    }
    return isDone;
  }

  /** Show the next offer after an accepted one, if the user is still there. */
  private goOn(): void {
    const editor = window.activeTextEditor;
    const { goingOn } = this;
    if (goingOn === null || editor === undefined) {
      return;
    }
    const isThere =
      this.nameOf(editor.document.uri) === goingOn.uri &&
      editor.document.version === goingOn.version &&
      editor.selection.active.isEqual(goingOn.at) &&
      Date.now() < goingOn.until;
    const edit = isThere ? this.find(editor) : undefined;
    if (edit !== undefined || !isThere) {
      this.goingOn = null;
    }
    if (edit !== undefined) {
      this.show(editor, edit);
    }
  }

  private done(editor: TextEditor, edit: NextEdit, how: NextEditDone["how"]): void {
    const uri = this.nameOf(editor.document.uri);
    this.offers.remove(uri, edit.id);
    const message: NextEditDone = { uri, id: edit.id, how };
    void this.client().sendNotification(NEXT_EDIT_DONE, message);
  }

  private draw(editor: TextEditor): void {
    const { document } = editor;
    const isMoving =
      !this.isHidden() && this.offers.isBeingMoved(this.nameOf(document.uri), document.version);
    if (isMoving && this.drawnIn.has(editor)) {
      this.view.endDifference(editor);
      return; // VS Code moves the marks, until the server has
    }
    const offers = this.current(editor);
    if (offers.length > 0) {
      this.view.draw(editor, this.drawing(editor, offers));
      this.drawnIn.add(editor);
    } else if (this.drawnIn.delete(editor)) {
      this.view.clear(editor);
    }
  }

  private drawing(editor: TextEditor, offers: readonly NextEdit[]): Drawing {
    const shown = this.drawnAsDifference(editor);
    const canRename = this.renameIn(editor) !== undefined;
    const hint = canRename ? this.hint(editor) : undefined;
    const edit = nextFrom(offers, editor.selection.active.line);
    if (editor !== window.activeTextEditor || edit === undefined || this.typing !== null) {
      return { offers, shown, canRename, hint };
    }
    const [line] = linesOfPlace(editor.document, edit);
    const isVisible = editor.visibleRanges.some(
      ({ start, end }) => start.line <= line && line <= end.line,
    );
    const cursor = editor.selection.active.line;
    const where = isVisible ? "" : ` in line ${line + 1} ${line < cursor ? "↑" : "↓"}`;
    const next = { edit, line: isVisible ? line : cursor, words: `⇥ next edit${where}` };
    return { offers, shown, canRename, hint, next };
  }

  /** Return words about the offer on show, where a key can do more than accept it. */
  private hint(editor: TextEditor): Drawing["hint"] {
    const shown = this.shownIn(editor);
    if (shown === undefined) {
      return undefined;
    }
    const [line] = linesOfPlace(editor.document, shown);
    return { line, words: "F2 renames everywhere" };
  }

  /** Return the offers whose differences are drawn: the one on show, or all that are ticked. */
  private drawnAsDifference(editor: TextEditor): readonly NextEdit[] {
    const { previewed } = this;
    const { document } = editor;
    if (previewed?.uri === this.nameOf(document.uri) && previewed.version === document.version) {
      return previewed.edits;
    }
    const shown = this.shownIn(editor);
    return shown === undefined ? [] : [shown];
  }

  private startTyping(): void {
    clearTimeout(this.typing ?? undefined);
    this.typing = setTimeout(() => {
      this.typing = null;
      this.update();
    }, TYPING_MS);
  }

  private endTyping(): void {
    clearTimeout(this.typing ?? undefined);
    this.typing = null;
  }

  private nameOf(uri: TextEditor["document"]["uri"]): string {
    return this.client().code2ProtocolConverter.asUri(uri);
  }
}

/** Whether Tab would neither indent the line nor replace or indent a selection. */
function hasNothingToIndent({ document, selections, selection }: TextEditor): boolean {
  const { line, character } = selection.active;
  const before = document.lineAt(line).text.slice(0, character);
  return selections.length === 1 && selection.isEmpty && before.trim() !== "";
}

async function nothing(otherwise?: string): Promise<void> {
  if (otherwise === undefined) {
    window.setStatusBarMessage("Intarsia: there is no next edit here now", MESSAGE_MS);
  } else {
    await commands.executeCommand(otherwise);
  }
}
