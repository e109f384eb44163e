// Which documents the server gets: by the scheme of their URI.

import { workspace } from "vscode";

/**
 * Return files, new documents, and whatever the opened folders hold: a folder of a virtual file
 * system, such as a repository without a clone, has a scheme of its own.
 */
export function documentSchemes(): string[] {
  const opened = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.scheme);
  return [...new Set(["file", "untitled", ...opened])];
}
