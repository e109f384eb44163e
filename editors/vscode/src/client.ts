// The language client for one server. Only this side of the extension loads vscode-languageclient.

import { InlineCompletionTriggerKind, type LogOutputChannel, Uri, workspace } from "vscode";
import {
  CloseAction,
  ErrorAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  MessageType,
  ShowMessageNotification,
  type ShowMessageParams,
} from "vscode-languageclient/node";
import { addImports } from "./edits/addImports";
import { withCommands } from "./edits/codeActions";
import { expandsEmmet } from "./emmet";
import type { GhostText } from "./ghostText";
import type { NextEdits } from "./nextEdits/nextEdits";
import { members } from "./members";
import { DRAFT, IMPORTS_COMMAND, MEMBERS, NEXT_EDITS, STATUS, type Status } from "./protocol";
import { fail, inform, warn } from "./messages";
import { LANGUAGE_OPTIONS, serverOptions } from "./serverOptions";
import { translated } from "./serverWords";
import { argsOf, type ServerProgram } from "./findServer";

const EXTENSIONS = { drafts: true, status: true, confidence: true, nextEdits: true, members: true };

export interface ClientParts {
  program: ServerProgram;
  /** Folder that the server runs in: never an opened one. */
  cwd: string;
  /** The schemes of the documents that the server gets. */
  schemes: readonly string[];
  log: LogOutputChannel;
  ghostText: GhostText;
  nextEdits: NextEdits;
  onStatus: (status: Status) => void;
  /** The server has ended unexpectedly. */
  onEnded: (isStartedAgain: boolean) => void;
}

export function createClient(parts: ClientParts): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [...parts.schemes.map((scheme) => ({ scheme })), { notebook: "*" }],
    outputChannel: parts.log,
    errorHandler: restarting(parts.onEnded, () => client),
    initializationFailedHandler: () => false,
    middleware: {
      provideInlineCompletionItems: (document, position, context, token) =>
        context.triggerKind === InlineCompletionTriggerKind.Automatic &&
        // An automatic suggestion would come between a next edit on show and its keys.
        (parts.nextEdits.isShowing() || expandsEmmet(document, position))
          ? null
          : parts.ghostText.provide(document, position, context, token),
      provideCodeActions: async (document, range, context, token, next) =>
        withCommands(client, await next(document, range, context, token)),
      executeCommand: (command, args, next) => {
        const ask = (asked: unknown[]) => next(command, asked) as Thenable<unknown>;
        return command === IMPORTS_COMMAND ? addImports(client, args, ask) : ask(args);
      },
      resolveCodeAction: (action) => action, // the action's command does that
      handleWorkDoneProgress: (token, params, next) => {
        const message = "message" in params ? params.message : undefined;
        next(token, message === undefined ? params : { ...params, message: translated(message) });
      },
      workspace: {
        configuration: ({ items }) => items.map(({ scopeUri }) => optionsOf(scopeUri)),
      },
    },
  };
  const server = {
    command: parts.program.command,
    args: argsOf(parts.program, "serve"),
    options: { cwd: parts.cwd },
  };
  const client: LanguageClient = new LanguageClient("intarsia", "Intarsia", server, options);
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = {
        ...(capabilities.experimental as object),
        intarsia: EXTENSIONS,
      };
    },
    initialize: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  });
  client.onNotification(DRAFT, parts.ghostText.draw);
  client.onRequest(MEMBERS, members);
  client.onNotification(NEXT_EDITS, parts.nextEdits.receive);
  client.onNotification(STATUS, parts.onStatus);
  client.onNotification(ShowMessageNotification.type, showMessage);
  return client;
}

/** Show a message of the server, which may hold file names; it begins with its own name. */
function showMessage({ type, message }: ShowMessageParams): void {
  const words = translated(message.replace(/^intarsia: /, ""));
  void (type === MessageType.Error ? fail : type === MessageType.Warning ? warn : inform)(words);
}

/** The settings of an opened folder; those of the window where there is no URI. */
function optionsOf(scopeUri: string | undefined): Record<string, unknown> {
  // Without a scope, VS Code would take the folder of the active editor.
  const scope = scopeUri === undefined ? null : Uri.parse(scopeUri);
  const section = workspace.getConfiguration(undefined, scope).get("intarsia");
  return serverOptions(section, overridesIn(scope));
}

/** What the user or a folder sets for single languages, as in `"[python]": {…}`. */
function overridesIn(uri: Uri | null): { languageId: string; name: string; value: unknown }[] {
  const all = workspace.getConfiguration("intarsia", uri);
  return LANGUAGE_OPTIONS.flatMap((name) =>
    (all.inspect(name)?.languageIds ?? []).map((languageId) => {
      const scope = { uri: uri ?? undefined, languageId };
      return { languageId, name, value: workspace.getConfiguration("intarsia", scope).get(name) };
    }),
  );
}

/** Restart a server that has ended, without a message: not if it never started, or ends repeatedly. */
export function restarting(
  onEnded: ClientParts["onEnded"],
  client: () => LanguageClient,
): ErrorHandler {
  let usual: ErrorHandler | undefined;
  return {
    error: () => ({ action: ErrorAction.Continue, handled: true }),
    closed: async () => {
      usual ??= client().createDefaultErrorHandler();
      const isRunning = client().isRunning();
      const { action } = await usual.closed();
      const isStartedAgain = isRunning && action === CloseAction.Restart;
      onEnded(isStartedAgain);
      return { action: isStartedAgain ? action : CloseAction.DoNotRestart, handled: true };
    },
  };
}
