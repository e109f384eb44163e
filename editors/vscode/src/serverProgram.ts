// A server that was found: how it is started, and what else its program can do.

export interface ServerProgram {
  command: string;
  /** Words between the program and the name of its subcommand. */
  args: readonly string[];
  /** Words after `serve`. */
  serveArgs: readonly string[];
  /** Where it was found, in words for the user. */
  origin: string;
}

/** Return the program of a Python environment; its `-P` keeps the working folder from the imports. */
export function programOfPython(python: string, origin: string): ServerProgram {
  return { command: python, args: ["-P", "-m", "intarsia.cli"], serveArgs: [], origin };
}

export function argsOf(program: ServerProgram, subcommand: string): string[] {
  const rest = subcommand === "serve" ? program.serveArgs : [];
  return [...program.args, subcommand, ...rest];
}
