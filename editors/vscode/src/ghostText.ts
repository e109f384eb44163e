// Ghost text: requests suggestions when VS Code does, and remembers the shown ones for drafts and keys.

import {
  type CancellationToken,
  CancellationTokenSource,
  commands,
  Disposable,
  type InlineCompletionContext,
  type InlineCompletionItem,
  type InlineCompletionList,
  InlineCompletionTriggerKind,
  Position,
  Range,
  type TextDocument,
  type TextEditor,
  window,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { InlineCompletionRequest } from "vscode-languageclient/node";
import type { DraftView } from "./draftView";
import type { Pause } from "./pause";
import { DISMISSED, type Draft, type Item } from "./protocol";
import { translated } from "./serverWords";
import { asCandidate, type Candidate, plainLines, restAfter } from "./afterTyping";

/** VS Code cancels a request when quick suggestions open: 750 ms after the key in 1.139. */
const PATIENCE_MS = 500;

const TRIGGER = "editor.action.inlineSuggest.trigger";

type Answer = InlineCompletionItem[] | InlineCompletionList | null | undefined;

/** The suggestions that are shown now. */
export interface Shown {
  editor: TextEditor;
  /** The rest of each candidate; the first is shown unless the user chose another. */
  rests: Candidate[];
  /** Text after the cursor that the candidates repeat. */
  textAfter: string;
}

/** Suggestions that all replace the same range of one line. */
interface Suggested {
  document: TextDocument;
  start: Position;
  /** UTF-16 units of the line after the replaced range. */
  unitsAfter: number;
  candidates: readonly Candidate[];
}

interface Running {
  document: TextDocument;
  version: number;
  position: Position;
  cancel: CancellationTokenSource;
}

export class GhostText implements Disposable {
  /** The running request, whose drafts may be drawn. */
  private running: Running | null = null;
  private suggested: Suggested | null = null;
  /** Tells which imports the suggestion brings along: ghost text has no place for it. */
  private told: Disposable | null = null;
  /** Whether the next request is for a revised answer. */
  private isForRevised = false;
  private readonly subscriptions: Disposable;

  /** @param onSuggestion called with whether there is a suggestion of ours */
  constructor(
    private readonly client: () => LanguageClient,
    private readonly pause: Pause,
    private readonly drafts: DraftView,
    private readonly onSuggestion: (hasSuggestion: boolean) => void,
  ) {
    const forget = () => {
      if (this.running !== null && !isAt(this.running)) {
        this.end(this.running);
      }
      if (this.suggested !== null && this.shown() === null) {
        this.remember(null);
      }
    };
    this.subscriptions = Disposable.from(
      window.onDidChangeTextEditorSelection(forget),
      window.onDidChangeActiveTextEditor(forget),
    );
  }

  readonly provide = async (
    document: TextDocument,
    position: Position,
    asked: InlineCompletionContext,
    token: CancellationToken,
  ): Promise<Answer> => {
    const context: InlineCompletionContext = this.isForRevised
      ? { ...asked, triggerKind: InlineCompletionTriggerKind.Automatic }
      : asked;
    this.isForRevised = false;
    const isInvoked = context.triggerKind === InlineCompletionTriggerKind.Invoke;
    const editor = workspace.getConfiguration("editor", document);
    if (this.pause.isOn || !(isInvoked || editor.get<boolean>("inlineSuggest.enabled", true))) {
      return null;
    }
    if (this.running !== null) {
      this.end(this.running);
    }
    const cancel = new CancellationTokenSource();
    const request: Running = { document, version: document.version, position, cancel };
    this.running = request;
    const startedAt = Date.now();
    const ended = token.onCancellationRequested(() => {
      // Cancelled by VS Code's own timeout: the answer is still of use, and shown when it comes.
      if (!isAt(request) || Date.now() - startedAt < PATIENCE_MS) {
        this.end(request);
      }
    });
    const client = this.client();
    try {
      const params = client.code2ProtocolConverter.asInlineCompletionParams(
        document,
        position,
        context,
      );
      const answer = await client.sendRequest(InlineCompletionRequest.type, params, cancel.token);
      if (cancel.token.isCancellationRequested || document.version !== request.version) {
        return null;
      }
      const items = Array.isArray(answer) ? answer : (answer?.items ?? []);
      if (token.isCancellationRequested) {
        if (items.length > 0 && isAt(request)) {
          void commands.executeCommand(TRIGGER, { explicit: false }); // again: the server has cached it
        }
        return null;
      }
      this.remember(asSuggested(document, position, items), items[0]?.command?.title);
      return await client.protocol2CodeConverter.asInlineCompletionResult(answer, token);
    } catch (error) {
      return client.handleFailedRequest(
        InlineCompletionRequest.type,
        cancel.token,
        error,
        null,
        false,
      );
    } finally {
      ended.dispose();
      this.end(request); // before the answer is returned: draft and answer are never drawn together
    }
  };

  /** Draw a draft of the running request, unless VS Code already shows a suggestion there. */
  readonly draw = (draft: Draft): void => {
    if (draft.revised === true) {
      void this.showRevised(draft);
      return;
    }
    const editor = window.activeTextEditor;
    const running = this.running;
    if (running === null || editor?.document !== running.document) {
      return;
    }
    const uri = this.client().code2ProtocolConverter.asUri(running.document.uri);
    const isForRequest =
      draft.textDocument.uri === uri && draft.textDocument.version === running.version;
    if (isForRequest && this.shown() === null) {
      this.drafts.draw(editor, running.position, draft.tokens);
    }
  };

  /** Return what VS Code shows of the last answer; null when the cursor has moved away. */
  shown(): Shown | null {
    const editor = window.activeTextEditor;
    const suggested = this.suggested;
    if (editor === undefined || suggested === null || !editor.selection.isEmpty) {
      return null;
    }
    const { document } = editor;
    const { active } = editor.selection;
    if (document !== suggested.document || active.isBefore(suggested.start)) {
      return null;
    }
    const typed = plainLines(document.getText(new Range(suggested.start, active)));
    const { text } = document.lineAt(active.line);
    const end = text.length - suggested.unitsAfter;
    const rests = suggested.candidates.flatMap(({ text, sure }) => {
      const rest = restAfter(text, typed);
      return rest === null ? [] : [{ text: rest, sure: restAfter(sure, typed) ?? "" }];
    });
    return rests.length > 0 && end >= active.character
      ? { editor, rests, textAfter: text.slice(active.character, end) }
      : null;
  }

  /** Hide a suggestion of one word: a next edit was found. */
  readonly giveWay = (): void => {
    const rests = this.shown()?.rests ?? [];
    if (rests.length > 0 && rests.every(({ text }) => /^[\w$]+$/.test(text))) {
      this.remember(null);
      void commands.executeCommand("editor.action.inlineSuggest.hide");
    }
  };

  /** Hide the suggestion, and tell the server: LSP has no message for it. */
  async dismiss(): Promise<void> {
    const shown = this.shown();
    await commands.executeCommand("editor.action.inlineSuggest.hide");
    if (shown !== null) {
      this.remember(null);
      const { document, selection } = shown.editor;
      const converter = this.client().code2ProtocolConverter;
      const params = converter.asTextDocumentPositionParams(document, selection.active);
      await this.client().sendNotification(DISMISSED, params);
    }
  }

  dispose(): void {
    this.remember(null);
    this.subscriptions.dispose();
  }

  /** Show an answer that was revised after it was given, if nothing has changed since. */
  private async showRevised(draft: Draft): Promise<void> {
    if (this.running !== null || !this.isPlaceOf(draft)) {
      return;
    }
    // VS Code answers an automatic request for an unchanged text itself, and keeps what it shows.
    await commands.executeCommand("editor.action.inlineSuggest.hide");
    if (this.isPlaceOf(draft)) {
      this.isForRevised = true;
      await commands.executeCommand(TRIGGER);
      this.isForRevised = false;
    }
  }

  /** Whether the user is where the draft was written for, and has typed nothing since. */
  private isPlaceOf({ textDocument, range }: Draft): boolean {
    const editor = window.activeTextEditor;
    if (!editor?.selection.isEmpty) {
      return false;
    }
    const { document, selection } = editor;
    const { line, character } = selection.active;
    return (
      textDocument.uri === this.client().code2ProtocolConverter.asUri(document.uri) &&
      textDocument.version === document.version &&
      range.start.line === line &&
      range.start.character === character
    );
  }

  private end(request: Running): void {
    request.cancel.cancel();
    if (this.running === request) {
      this.running = null;
      this.drafts.clear();
    }
  }

  /** @param imports what the first candidate brings along, for the user to see */
  private remember(suggested: Suggested | null, imports?: string): void {
    this.suggested = suggested;
    this.told?.dispose();
    const told = imports && `Intarsia: ${translated(imports)}`;
    this.told = told ? window.setStatusBarMessage(told) : null;
    this.onSuggestion(suggested !== null);
  }
}

/** Whether the user is still where the request was made. */
function isAt({ document, version, position }: Running): boolean {
  const editor = window.activeTextEditor;
  return (
    editor?.document === document &&
    document.version === version &&
    editor.selection.active.isEqual(position)
  );
}

function asSuggested(
  document: TextDocument,
  position: Position,
  items: readonly Item[],
): Suggested | null {
  const [first] = items;
  if (first === undefined) {
    return null;
  }
  const start = first.range?.start ?? position;
  const end = first.range?.end ?? position;
  const alike = items.filter(
    ({ range }) => range === undefined || range.start.character === start.character,
  );
  return {
    document,
    start: new Position(start.line, start.character),
    unitsAfter: document.lineAt(end.line).text.length - end.character,
    candidates: alike.map(({ insertText, intarsia }) =>
      asCandidate(typeof insertText === "string" ? insertText : insertText.value, intarsia),
    ),
  };
}
