// Lets the user choose among several suggestions at the cursor; the one that is pointed at in the
// list is drawn in the code.

import {
  commands,
  InlineCompletionTriggerKind,
  l10n,
  ProgressLocation,
  type QuickPickItem,
  Range,
  ThemeColor,
  window,
} from "vscode";
import { InlineCompletionRequest, type LanguageClient } from "vscode-languageclient/node";
import { insertText } from "./acceptSure";
import { inform, warn, warnOf } from "./messages";
import { translated } from "./serverWords";

const QUIET = new ThemeColor("editorGhostText.foreground");
const BREAK = " ⏎ ";

export async function chooseSuggestion(client: LanguageClient): Promise<void> {
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    return void warn(l10n.t("open a file first"));
  }
  const { document, selection } = editor;
  const { version } = document;
  const context = {
    triggerKind: InlineCompletionTriggerKind.Invoke,
    selectedCompletionInfo: undefined,
  };
  const converter = client.code2ProtocolConverter;
  const params = converter.asInlineCompletionParams(document, selection.active, context);
  void commands.executeCommand("editor.action.inlineSuggest.hide");
  const title = l10n.t("Intarsia: asking for suggestions");
  const options = { location: ProgressLocation.Window, title };
  const answer = await window
    .withProgress(options, () => client.sendRequest(InlineCompletionRequest.type, params))
    .then(undefined, warnOf);
  const result = await client.protocol2CodeConverter.asInlineCompletionResult(answer ?? []);
  const found = (Array.isArray(result) ? result : (result?.items ?? [])).map((item) => ({
    item,
    range: item.range ?? new Range(selection.active, selection.active),
    text: typeof item.insertText === "string" ? item.insertText : item.insertText.value,
  }));
  if (found.length === 0) {
    return void inform(
      l10n.t("there is no suggestion here: Show Why There Was No Suggestion tells the reason"),
    );
  }
  const drawn = window.createTextEditorDecorationType({});
  const chosen = await pick(
    found.map(({ text, item }) => ({
      label: oneLine(text),
      description: item.command && translated(item.command.title),
      draw: () => {
        const after = { contentText: oneLine(text).replaceAll(" ", "\u00a0"), color: QUIET };
        editor.setDecorations(drawn, [
          { range: new Range(selection.active, selection.active), renderOptions: { after } },
        ]);
      },
    })),
  );
  drawn.dispose();
  const one = found[chosen];
  if (one === undefined) {
    return;
  }
  const { range, text, item } = one;
  if (document.version !== version || !(await insertText(editor, range, text, !item.command))) {
    return void warn(l10n.t("the text has changed, so nothing was inserted: try again"));
  }
  if (item.command !== undefined) {
    const { command, arguments: given = [] } = item.command;
    await commands.executeCommand(command, ...(given as unknown[]));
  }
}

interface Choice extends QuickPickItem {
  draw: () => void;
}

/** Return the number of what the user chooses, -1 for nothing. */
function pick(choices: readonly Choice[]): Promise<number> {
  const list = window.createQuickPick<Choice>();
  list.title = l10n.t("Intarsia: Choose Among Suggestions");
  list.items = choices;
  return new Promise((resolve) => {
    list.onDidChangeActive(([active]) => active?.draw());
    list.onDidAccept(() => {
      resolve(choices.findIndex((it) => it === list.activeItems[0]));
      list.hide();
    });
    list.onDidHide(() => {
      resolve(-1); // without effect after an answer
      list.dispose();
    });
    list.show();
  });
}

/** Return a suggestion in one line, as a list has them. */
function oneLine(text: string): string {
  return text
    .trimEnd()
    .split(/\s*[\r\n]+\s*/)
    .join(BREAK);
}
