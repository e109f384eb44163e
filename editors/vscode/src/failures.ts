// What the user is shown of a request's failure.

import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

export function isCancelled(error: unknown): boolean {
  return (
    error instanceof ResponseError &&
    (error.code === LSPErrorCodes.RequestCancelled || error.code === LSPErrorCodes.ServerCancelled)
  );
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
