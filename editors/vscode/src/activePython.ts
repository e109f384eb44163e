// The interpreter that is active in the Python extension, where that is installed.

import { extensions, window, workspace } from "vscode";

const EXTENSION = "ms-python.python";

interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: unknown): { path: string };
    resolveEnvironment(path: {
      path: string;
    }): Promise<{ executable: { uri?: { fsPath: string } } } | undefined>;
  };
}

/** Return the interpreter's path. The Python extension is not started unless a Python file is open. */
export async function activePython(): Promise<string | null> {
  const extension = extensions.getExtension<PythonApi>(EXTENSION);
  const isPython = window.activeTextEditor?.document.languageId === "python";
  if (extension === undefined || !(extension.isActive || isPython)) {
    return null;
  }
  try {
    const { environments } = await extension.activate();
    const active = environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
    return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath ?? null;
  } catch {
    return null;
  }
}
