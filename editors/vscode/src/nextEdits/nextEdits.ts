// Next edits: what an edit of the user has left to change is marked, shown, accepted or dismissed.
// This file has the commands, and follows what happens in VS Code.

import { commands, Disposable, l10n, type TextEditor, window, workspace } from "vscode";
import type { LanguageClient, Location } from "vscode-languageclient/node";
import type { NextEdits as Offered } from "../protocol";
import { Accepting } from "./accepting";
import { choose, chooseHow } from "./choose";
import { Offers } from "./offers";
import { Renaming } from "./renaming";
import { ShownOffers } from "./shownOffers";
import { SpokenOffers } from "./spoken";
import { Typing } from "./typing";
import { NextEditView } from "./view";

const MESSAGE_MS = 4000;

/** What a key, a link or the palette gives to a command. */
export interface Asked {
  /** An offer; without one, the next from the cursor. */
  id?: string;
  /** VS Code's command that the key runs where there is nothing to do here. */
  otherwise?: string;
}

export class NextEdits implements Disposable {
  private keys: Readonly<Record<string, boolean>> = {}; // which of them apply, by VS Code's context
  private readonly renaming: Renaming;
  private readonly offers: Offers;
  private readonly shown: ShownOffers;
  private readonly typing: Typing;
  private readonly accepting: Accepting;
  private readonly view: NextEditView;
  private readonly spoken: SpokenOffers;
  private readonly parts: Disposable;
  private isDisposed = false;

  /**
   * @param isHidden whether something else has precedence: ghost text, or a pause
   * @param found called when there are offers
   */
  constructor(
    client: () => LanguageClient,
    isHidden: () => boolean,
    private readonly found: () => void,
  ) {
    const update = () => this.update();
    this.renaming = new Renaming(client);
    this.offers = new Offers(client, this.renaming, isHidden);
    this.shown = new ShownOffers(this.offers, update);
    this.typing = new Typing(update);
    this.accepting = new Accepting(this.offers, this.shown, this.typing, update);
    this.view = new NextEditView(this.offers, this.shown, this.typing);
    this.spoken = new SpokenOffers(this.offers, this.shown, this.typing);
    this.parts = Disposable.from(
      this.typing,
      this.shown,
      this.view,
      this.spoken,
      window.onDidChangeTextEditorSelection(update),
      window.onDidChangeTextEditorVisibleRanges(update),
      window.onDidChangeActiveTextEditor(update),
      window.onDidChangeVisibleTextEditors(update),
      workspace.onDidCloseTextDocument((document) => this.offers.forget(document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          // Other documents, such as a log in VS Code's panel, change while the user reads this one.
          if (document === window.activeTextEditor?.document) {
            this.shown.end();
            this.typing.start();
          }
          this.update();
        }
      }),
    );
  }

  /** Take what the server offers. */
  readonly receive = (offered: Offered): void => {
    this.offers.receive(offered);
    const editor = window.activeTextEditor;
    if (offered.edits.length > 0 && editor && this.offers.nameOf(editor.document) === offered.uri) {
      this.found();
    }
    this.accepting.goOn();
    this.update();
    if (editor !== undefined) {
      void this.offers.probe(editor).then(this.update);
    }
  };

  /** Show the next offer, or accept the one on show. */
  async next({ id, otherwise }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const edit = editor && (this.shown.oneIn(editor) ?? this.offers.find(editor, id));
    const elsewhere = editor && this.offers.elsewhere(editor);
    // VS Code may have taken the key by what held a moment before.
    const isLate = otherwise !== undefined && editor !== undefined && !this.mayTab(editor);
    if (elsewhere !== undefined && !isLate) {
      return this.goElsewhere(elsewhere);
    }
    if (editor === undefined || edit === undefined || isLate) {
      return nothing(otherwise);
    }
    if (this.shown.oneIn(editor) !== undefined) {
      await this.accepting.accept(editor, edit);
    } else {
      this.shown.show(editor, edit);
    }
  }

  /** Open the document where the edit goes on, and show its offer. */
  private async goElsewhere({ uri }: Location): Promise<void> {
    const document = await workspace.openTextDocument(this.offers.uriOf(uri));
    const editor = await window.showTextDocument(document);
    const edit = this.offers.find(editor);
    if (edit === undefined) {
      return nothing();
    }
    this.shown.show(editor, edit);
  }

  /** Apply an offer without showing it first. */
  async apply({ id }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const edit = editor && this.offers.find(editor, id);
    await (editor && edit ? this.accepting.accept(editor, edit) : nothing());
  }

  /** Dismiss the offer on show, else the next one: its place stays silent. */
  async dismiss({ id }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const shown = editor && id === undefined ? this.shown.oneIn(editor) : undefined;
    const edit = shown ?? (editor && this.offers.find(editor, id));
    if (!editor || !edit) {
      return nothing();
    }
    this.shown.end();
    this.offers.dismiss(editor, edit);
    this.update();
  }

  /** Show all offers of the active document in a list to untick some, and apply the others. */
  async applyAll(): Promise<void> {
    const editor = window.activeTextEditor;
    const offers = editor === undefined ? [] : this.offers.current(editor);
    if (editor === undefined || offers.length === 0) {
      return nothing();
    }
    const { version } = editor.document;
    const rename = this.offers.renameIn(editor);
    const how = rename === undefined ? "offers" : await chooseHow(rename, offers.length);
    if (how === "rename") {
      return this.renameEverywhere();
    }
    if (how === null || editor.document.version !== version) {
      return;
    }
    const ticked = await choose(offers, (edits) => this.shown.preview(editor, version, edits));
    this.shown.endPreview();
    const holds = !this.isDisposed && editor.document.version === version;
    if (ticked !== null && ticked.length > 0 && holds) {
      await this.accepting.applyAtOnce(editor, ticked);
    }
    this.update();
  }

  /** Rename everywhere what the last edit began to rename. */
  async renameEverywhere({ otherwise }: Asked = {}): Promise<void> {
    const editor = window.activeTextEditor;
    const rename = editor && this.offers.renameIn(editor);
    if (!editor || !rename) {
      return nothing(otherwise);
    }
    this.shown.end();
    await this.renaming.rename(editor, rename);
    this.update();
  }

  /** Draw what is offered now, and tell VS Code which keys apply. */
  readonly update = (): void => {
    if (this.isDisposed) {
      return; // what was awaited ends later, and the keys are no longer ours
    }
    const active = window.activeTextEditor;
    const offered =
      active !== undefined &&
      (this.offers.current(active).length > 0 || this.offers.elsewhere(active) !== undefined);
    const shown = this.isShowing();
    // First the keys: what is drawn says that they apply.
    const rename = active && this.offers.renameIn(active);
    const line = active?.selection.active.line;
    this.setKeys({
      offered, // there is an offer in the active editor, or a way to one
      shown, // the difference of one is on show
      rename: rename !== undefined, // what the last edit began can be renamed everywhere
      everywhere: rename !== undefined && (shown || rename.position.line === line), // its key applies
      tab: offered && this.mayTab(active), // Tab means an offer, and not indentation
    });
    this.view.update();
    this.spoken.update();
  };

  /** Whether the difference of an offer is on show: a suggestion would come between. */
  isShowing(): boolean {
    const editor = window.activeTextEditor;
    return editor !== undefined && this.shown.oneIn(editor) !== undefined;
  }

  dispose(): void {
    this.isDisposed = true;
    this.setKeys(Object.fromEntries(Object.keys(this.keys).map((name) => [name, false])));
    this.parts.dispose();
  }

  /** Tell VS Code which keys apply. */
  private setKeys(keys: Readonly<Record<string, boolean>>): void {
    for (const [name, isOn] of Object.entries(keys)) {
      if (isOn !== (this.keys[name] ?? false)) {
        void commands.executeCommand("setContext", `intarsia.nextEdit.${name}`, isOn);
      }
    }
    this.keys = keys;
  }

  /** Whether Tab means an offer. */
  private mayTab(editor: TextEditor): boolean {
    return (
      this.shown.oneIn(editor) !== undefined || (!this.typing.isOn && hasNothingToIndent(editor))
    );
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
    window.setStatusBarMessage(l10n.t("Intarsia: there is no next edit here now"), MESSAGE_MS);
  } else {
    await commands.executeCommand(otherwise);
  }
}
