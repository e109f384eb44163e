// Runs a command of the server's program, and shows its output in a terminal that stays open.

import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, type Pseudoterminal, window } from "vscode";
import { argsOf, type ServerProgram } from "./findServer";

/** @param words the command's, such as `doctor` */
export function runInTerminal(program: ServerProgram, cwd: string, ...words: string[]): void {
  const pty = output(program, cwd, words);
  window.createTerminal({ name: `Intarsia: ${words[0]}`, pty }).show();
}

function output(program: ServerProgram, cwd: string, words: string[]): Pseudoterminal {
  const writes = new EventEmitter<string>();
  let child: ChildProcess | undefined;
  const write = (chunk: unknown) => writes.fire(String(chunk).replace(/\r?\n/g, "\r\n"));
  return {
    onDidWrite: writes.event,
    open: (size) => {
      const env = { ...process.env, FORCE_COLOR: "1", COLUMNS: String(size?.columns ?? 100) };
      child = spawn(program.command, argsOf(program, ...words), { cwd, env });
      child.stdout?.setEncoding("utf8").on("data", write);
      child.stderr?.setEncoding("utf8").on("data", write);
      child.on("error", (error) => write(`${error.message}\n`));
    },
    close: () => child?.kill(),
  };
}
