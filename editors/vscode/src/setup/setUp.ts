// The set-up as the user sees it: consent, progress that can be cancelled, and errors.

import { l10n, type LogOutputChannel, ProgressLocation, window } from "vscode";
import { fail } from "../messages";
import { run } from "../run";
import { mayFetch } from "./consent";
import { install } from "./install";
import type { Bundle } from "./privateEnvironment";
import { SetupCancelled, SetupError } from "./programs";

export interface SetUp {
  bundle: Bundle;
  storage: string;
  log: LogOutputChannel;
  report: (message: string) => void;
  /** PATH in which programs are looked up. */
  path: string;
}

/** Make the private environment. Errors are shown to the user. */
export async function setUpServer(options: SetUp): Promise<void> {
  const env = { ...process.env, PATH: options.path };
  if (!(await mayFetch(options.storage))) {
    return;
  }
  const progressOptions = {
    location: ProgressLocation.Notification,
    title: l10n.t("Intarsia: setting up the server"),
    cancellable: true,
  };
  await window.withProgress(progressOptions, async (progress, token) => {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort());
    const report = (message: string) => {
      progress.report({ message });
      options.report(message);
    };
    try {
      await install({
        ...options,
        run,
        env,
        signal: controller.signal,
        report,
        log: (line) => options.log.info(line),
      });
    } catch (error) {
      showError(error, options.log);
    }
  });
}

function showError(error: unknown, log: LogOutputChannel): void {
  if (error instanceof SetupCancelled) {
    return;
  }
  const message =
    error instanceof SetupError ? error.message : l10n.t("the set-up failed: {0}", String(error));
  log.error(message);
  const openLog = l10n.t("Open Log");
  void fail(message, openLog).then((picked) => {
    if (picked === openLog) {
      log.show();
    }
  });
}
