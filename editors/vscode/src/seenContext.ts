// Shows what the model would see at the cursor, as a read-only text beside the editor.

import {
  type Disposable,
  EventEmitter,
  l10n,
  type TextDocumentContentProvider,
  Uri,
  ViewColumn,
  window,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { warn, warnOf } from "./messages";
import { isForScreenReader } from "./screenReader";
import { CONTEXT_COMMAND, execute } from "./protocol";

const SCHEME = "intarsia-context";
const PLACE = Uri.from({ scheme: SCHEME, path: l10n.t("What the Model Sees") });

export class SeenContextView implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = workspace.registerTextDocumentContentProvider(SCHEME, this);
  private text = "";

  provideTextDocumentContent(): string {
    return this.text;
  }

  async show(client: LanguageClient): Promise<void> {
    const editor = window.activeTextEditor;
    if (editor === undefined) {
      void warn(l10n.t("open a file and put the cursor into it first"));
      return;
    }
    const { document: source, selection } = editor;
    const converter = client.code2ProtocolConverter;
    const place = converter.asTextDocumentPositionParams(source, selection.active);
    try {
      this.text = (await execute<{ text: string }>(client, CONTEXT_COMMAND, place)).text;
    } catch (error) {
      warnOf(error);
      return;
    }
    this.changed.fire(PLACE);
    const document = await workspace.openTextDocument(PLACE);
    const preserveFocus = !isForScreenReader(); // which reads what has the focus
    const options = { viewColumn: ViewColumn.Beside, preserveFocus, preview: true };
    await window.showTextDocument(document, options);
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
