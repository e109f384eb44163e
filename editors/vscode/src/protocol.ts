// The server's extensions of LSP (docs/protocol.md of the project).

import type {
  InlineCompletionItem,
  LanguageClient,
  Location,
  Position,
  Range,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageclient/node";

export const DISMISSED = "intarsia/dismissed";
export const DRAFT = "intarsia/draft";
export const MEMBERS = "intarsia/members";
export const STATUS = "intarsia/status";
export const NEXT_EDITS = "intarsia/nextEdits";
export const NEXT_EDIT_DONE = "intarsia/nextEditDone";
export const RENAMING = "intarsia/renaming";
export const EDIT_COMMAND = "intarsia.edit";
export const RENAME_COMMAND = "intarsia.renameInFiles";
export const IMPORTS_COMMAND = "intarsia.addImports";
export const CONTEXT_COMMAND = "intarsia.context";

/** Have the server run a command. */
export function execute<Answer>(
  client: LanguageClient,
  command: string,
  argument: object,
): Promise<Answer> {
  return client.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
}

export interface MembersParams {
  textDocument: { uri: string; version: number };
  position: Position;
}

export interface Members {
  names: string[];
  isIncomplete: boolean;
}

export interface DraftToken {
  text: string;
  confidence: number | null;
  settled: boolean;
}

export interface Draft {
  textDocument: { uri: string; version: number };
  range: Range;
  step: number;
  tokens: DraftToken[];
  /** The answer that was given there has become this one: request it again. */
  revised?: boolean;
}

export interface Confidence {
  tokens: { text: string; confidence: number }[];
  sure: string;
}

/** An item of the answer to `textDocument/inlineCompletion`. */
export interface Item extends InlineCompletionItem {
  intarsia?: Confidence;
}

/** The answer of the command `intarsia.addImports`: edits of one version of a document. */
export interface AddedImports {
  version: number | null;
  edits: TextEdit[];
}

export interface LastRequest {
  uri: string;
  shown: boolean;
  /** A text was hidden as improbable; a request by a key shows it. */
  unsure: boolean;
}

export interface Status {
  state: "off" | "starting" | "loading" | "ready" | "working" | "failed";
  model: string | null;
  message: string | null;
  progress: number | null;
  last: LastRequest | null;
  /** The last request in words. */
  told: string[];
}

/** A change of whole lines that an edit of the user has left to make. */
export interface NextEdit {
  id: string;
  range: Range;
  newText: string;
  level: "sure" | "balanced" | "bold";
  /** The least of it that has to be replaced. */
  change: TextEdit;
  /** What to draw: within lines, and whole new lines where old and new ones do not pair up. */
  difference: {
    removed: Range[];
    added: { position: Position; text: string }[];
    block: string[];
  };
}

/** All that is offered in one version of a document, best first. */
export interface NextEdits {
  uri: string;
  version: number;
  edits: NextEdit[];
  rename?: Rename;
  /** Where the edit goes on in another document, which has offers of its own. */
  next?: Location;
}

/** A rename that the last edit has begun, for another language server or for ours. */
export interface Rename {
  oldName: string;
  newName: string;
  /** Where the new name is. */
  ranges: Range[];
  /** Where to ask for the rename, in the text with the old name in these ranges. */
  position: Position;
  /** What our server itself can rename in other files. */
  elsewhere?: { files: number; uses: number };
}

/** The answer of the command `intarsia.renameInFiles`. */
export interface RenameResult {
  edit: WorkspaceEdit | null;
  reason: string | null;
}

export interface NextEditDone {
  uri: string;
  id: string;
  how: "dismissed";
}

export interface EditArguments {
  kind: "fill" | "fillAll" | "rewrite" | "instruct" | "document";
  textDocument: { uri: string; version: number | null };
  range: Range | null;
  /** Of a fillAll: the places to fill, an empty one a cursor. */
  ranges?: Range[];
  noise?: number;
  instruction?: string;
  apply: false;
}

export interface EditResult {
  edit: WorkspaceEdit | null;
  holes: number;
  filled: number;
  reason: string | null;
  /** That the model often edits wrongly, as measured; said once. */
  caution: string | null;
}
