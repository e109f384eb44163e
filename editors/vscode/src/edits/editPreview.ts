// Shows an edit as a diff before it is applied. The diff's title has buttons; closing it discards.

import {
  commands,
  Disposable,
  l10n,
  TabInputTextDiff,
  type TextDocument,
  type Uri,
  window,
  workspace,
} from "vscode";

const SCHEME = "intarsia-preview";

interface Pending {
  uri: Uri;
  text: string;
  decide: (isAccepted: boolean) => void;
}

export class EditPreview implements Disposable {
  private pending: Pending | null = null;
  private count = 0;
  private readonly subscriptions = Disposable.from(
    workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => (this.isPending(uri) ? this.pending?.text : ""),
    }),
    commands.registerCommand("intarsia.applyEdit", () => this.pending?.decide(true)),
    commands.registerCommand("intarsia.discardEdit", () => this.pending?.decide(false)),
    window.tabGroups.onDidChangeTabs(({ closed }) => {
      const diffs = closed.flatMap(({ input }) => (input instanceof TabInputTextDiff ? input : []));
      if (diffs.some(({ modified }) => this.isPending(modified))) {
        this.pending?.decide(false);
      }
    }),
  );

  /** Show the document beside its text after the edit; return whether the user accepts. */
  async ask(document: TextDocument, text: string, title: string): Promise<boolean> {
    this.pending?.decide(false);
    this.count += 1;
    const uri = document.uri.with({ scheme: SCHEME, query: String(this.count) });
    let pending: Pending | undefined;
    const decided = new Promise<boolean>((resolve) => {
      pending = { uri, text, decide: resolve };
      this.pending = pending;
    });
    await commands.executeCommand("setContext", "intarsia.previewing", true);
    await commands.executeCommand("vscode.diff", document.uri, uri, title, { preview: true });
    const how = l10n.t("Ctrl+Enter (Cmd+Enter) applies, Escape discards");
    window.setStatusBarMessage(`$(check) ${how}`, decided);
    const isAccepted = await decided;
    if (this.pending === pending) {
      this.pending = null;
      await commands.executeCommand("setContext", "intarsia.previewing", false);
    }
    await close(uri);
    return isAccepted;
  }

  dispose(): void {
    this.pending?.decide(false);
    this.subscriptions.dispose();
  }

  private isPending(uri: Uri): boolean {
    return uri.toString() === this.pending?.uri.toString();
  }
}

async function close(uri: Uri): Promise<void> {
  const tabs = window.tabGroups.all.flatMap(({ tabs }) => tabs);
  const previews = tabs.filter(
    ({ input }) =>
      input instanceof TabInputTextDiff && input.modified.toString() === uri.toString(),
  );
  await window.tabGroups.close(previews);
}
