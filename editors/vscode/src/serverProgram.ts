// A located server: the command lines for it and for the program's other subcommands.

export interface ServerProgram {
  command: string;
  /** Arguments before the subcommand. */
  args: readonly string[];
  /** Arguments after `serve`. */
  serveArgs: readonly string[];
  /** Where it was found, for the user. */
  origin: string;
}

/** Return the program of a Python environment. `-P`: nothing is imported from the working folder. */
export function programOfPython(python: string, origin: string): ServerProgram {
  return { command: python, args: ["-P", "-m", "intarsia.cli"], serveArgs: [], origin };
}

export function argsOf(program: ServerProgram, subcommand: string): string[] {
  const rest = subcommand === "serve" ? program.serveArgs : [];
  return [...program.args, subcommand, ...rest];
}
