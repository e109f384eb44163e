// Why a set-up ended: one line on what failed and what to do.

import type { Finished } from "../run";

export class SetupError extends Error {}

export class SetupCancelled extends Error {}

/** Return the line of a program's output that tells what went wrong. */
export function lastLine({ stdout, stderr }: Finished): string {
  const lines = `${stdout}\n${stderr}`.split(/\r?\n/).filter((line) => line.trim() !== "");
  const errorLine = lines.findLast((line) => /error|×|╰─▶/i.test(line));
  return (errorLine ?? lines.at(-1) ?? "no reason was given").trim();
}
