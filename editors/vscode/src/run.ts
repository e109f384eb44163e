// Runs a program to its end, without a shell.

import { spawn } from "node:child_process";

export interface Finished {
  /** Exit code; null when the program could not be started or was ended by a signal. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Called with each line of both streams. */
  onLine?: (line: string) => void;
}

export type Run = (
  command: string,
  args: readonly string[],
  options?: RunOptions,
) => Promise<Finished>;

/** Run a program. Never rejects: a missing program has failed. */
export const run: Run = (command, args, options = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      signal: options.signal,
      timeout: options.timeoutMs,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      let rest = "";
      child[name].setEncoding("utf8").on("data", (chunk: string) => {
        texts[name] += chunk;
        const lines = (rest + chunk).split(/\r?\n/);
        rest = lines.pop() ?? "";
        for (const line of lines) {
          options.onLine?.(line);
        }
      });
    }
    child.on("error", (error) => resolve({ code: null, stdout: "", stderr: error.message }));
    child.on("close", (code) => resolve({ code, ...texts }));
  });
