// The language client for one server. Only this side of the extension loads vscode-languageclient.

import { type LogOutputChannel, workspace } from "vscode";
import {
  CloseAction,
  ErrorAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import { IntarsiaCapabilities } from "./capabilities";
import { resolveCodeAction } from "./codeActions";
import type { GhostText } from "./ghostText";
import { DRAFT, STATUS, type Status } from "./protocol";
import { serverOptions } from "./serverOptions";
import { argsOf, type ServerProgram } from "./serverProgram";

export interface ClientParts {
  program: ServerProgram;
  /** Folder that the server runs in: never an opened one. */
  cwd: string;
  log: LogOutputChannel;
  ghostText: GhostText;
  onStatus: (status: Status) => void;
  /** The server has ended by itself. One that did so too often is not started again. */
  onEnded: (isStartedAgain: boolean) => void;
}

const MAX_RESTARTS = 4;
const RESTART_WINDOW_MS = 3 * 60_000;

export function createClient(parts: ClientParts): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
    outputChannel: parts.log,
    errorHandler: restarting(parts.onEnded),
    initializationFailedHandler: () => false,
    middleware: {
      provideInlineCompletionItems: parts.ghostText.provide,
      resolveCodeAction: (action, token) => resolveCodeAction(client, action, token),
      workspace: {
        configuration: ({ items }) =>
          items.map(() => serverOptions(workspace.getConfiguration().get("intarsia"))),
      },
    },
  };
  const server = {
    command: parts.program.command,
    args: argsOf(parts.program, "serve"),
    options: { cwd: parts.cwd },
  };
  const client: LanguageClient = new LanguageClient("intarsia", "Intarsia", server, options);
  client.registerFeature(new IntarsiaCapabilities());
  client.onNotification(DRAFT, parts.ghostText.draw);
  client.onNotification(STATUS, parts.onStatus);
  return client;
}

/** Start a server again that ended, silently, but not one that ends again and again. */
function restarting(onEnded: ClientParts["onEnded"]): ErrorHandler {
  let ends: number[] = [];
  return {
    error: () => ({ action: ErrorAction.Continue, handled: true }),
    closed: () => {
      const now = Date.now();
      ends = [...ends.filter((end) => now - end < RESTART_WINDOW_MS), now];
      const isStartedAgain = ends.length <= MAX_RESTARTS;
      onEnded(isStartedAgain);
      const action = isStartedAgain ? CloseAction.Restart : CloseAction.DoNotRestart;
      return { action, handled: true };
    },
  };
}
