// Chooses the model from the list of `intarsia models`, or by its path or hub id.

import { ConfigurationTarget, l10n, window, workspace } from "vscode";
import { argsOf, type ServerProgram } from "./findServer";
import { fail } from "./messages";
import { run } from "./run";

interface Choice {
  model: string | null;
  label: string;
  description: string;
  detail: string;
}

const OTHER: Choice = {
  model: null,
  label: l10n.t("Another one…"),
  description: l10n.t("a GGUF file, a folder, or a hub id (owner/name)"),
  detail: "",
};

export async function chooseModel(program: ServerProgram, cwd: string): Promise<void> {
  const { code, stdout, stderr } = await run(program.command, argsOf(program, "models", "--json"), {
    cwd,
  });
  if (code !== 0) {
    void fail(stderr.trim().replace(/^intarsia: /, ""));
    return;
  }
  const choices = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Choice);
  const title = l10n.t("Intarsia: Choose Model");
  const picked = await window.showQuickPick([...choices, OTHER], { title });
  const model =
    picked?.model === null
      ? await window.showInputBox({ title, prompt: OTHER.description })
      : picked?.model;
  if (model) {
    // The server loads it at once, after a download where one is needed, and shows how far it is.
    const settings = workspace.getConfiguration("intarsia");
    await settings.update("model", model, ConfigurationTarget.Global);
  }
}
