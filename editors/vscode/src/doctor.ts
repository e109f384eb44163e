// Runs `intarsia doctor` and shows its output in a terminal that stays open.

import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, type Pseudoterminal, window } from "vscode";
import { argsOf, type ServerProgram } from "./findServer";

export function runDoctor(program: ServerProgram, cwd: string): void {
  const terminal = window.createTerminal({ name: "Intarsia Doctor", pty: output(program, cwd) });
  terminal.show();
}

function output(program: ServerProgram, cwd: string): Pseudoterminal {
  const writes = new EventEmitter<string>();
  let child: ChildProcess | undefined;
  const write = (chunk: unknown) => writes.fire(String(chunk).replace(/\r?\n/g, "\r\n"));
  return {
    onDidWrite: writes.event,
    open: (size) => {
      const env = { ...process.env, FORCE_COLOR: "1", COLUMNS: String(size?.columns ?? 100) };
      child = spawn(program.command, argsOf(program, "doctor"), { cwd, env });
      child.stdout?.setEncoding("utf8").on("data", write);
      child.stderr?.setEncoding("utf8").on("data", write);
      child.on("error", (error) => write(`${error.message}\n`));
    },
    close: () => child?.kill(),
  };
}
