// The set-up as the user sees it: consent, progress that can be cancelled, what went wrong.

import { type LogOutputChannel, ProgressLocation, window } from "vscode";
import { run } from "../run";
import type { Bundle } from "./bundle";
import { mayFetch, type TorchWheels } from "./consent";
import { install } from "./install";
import { SetUpCancelled, SetUpFailed } from "./setUpFailed";

export interface SetUp {
  bundle: Bundle;
  storage: string;
  log: LogOutputChannel;
  report: (message: string) => void;
  /** PATH that programs are looked up in. */
  path: string;
}

/** Make the private environment. What goes wrong is told to the user here. */
export async function setUpServer(order: SetUp): Promise<void> {
  const env = { ...process.env, PATH: order.path };
  const torch = await torchWheels(env);
  if (!(await mayFetch(order.storage, torch))) {
    return;
  }
  const options = {
    location: ProgressLocation.Notification,
    title: "Intarsia: setting up the server",
    cancellable: true,
  };
  await window.withProgress(options, async (progress, token) => {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort());
    const report = (message: string) => {
      progress.report({ message });
      order.report(message);
    };
    try {
      await install({
        run,
        bundle: order.bundle,
        storage: order.storage,
        path: order.path,
        env,
        usesCpuIndex: torch === "small, from its own index",
        signal: controller.signal,
        report,
        log: (line) => order.log.info(line),
      });
    } catch (error) {
      tell(error, order.log);
    }
  });
}

function tell(error: unknown, log: LogOutputChannel): void {
  if (error instanceof SetUpCancelled) {
    return;
  }
  const message =
    error instanceof SetUpFailed ? error.message : `the set-up failed: ${String(error)}`;
  log.error(message);
  const openLog = "Open Log";
  void window.showErrorMessage(`Intarsia: ${message}`, openLog).then((picked) => {
    if (picked === openLog) {
      log.show();
    }
  });
}

/** torch's plain wheels carry the code for NVIDIA cards on Linux alone: most of their size. */
async function torchWheels(env: NodeJS.ProcessEnv): Promise<TorchWheels> {
  if (process.platform !== "linux") {
    return "small";
  }
  const hasCard = (await run("nvidia-smi", ["-L"], { env, timeoutMs: 10_000 })).code === 0;
  return hasCard ? "for NVIDIA cards" : "small, from its own index";
}
