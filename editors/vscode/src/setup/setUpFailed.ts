// Why a set-up ended: one line, what and what to do.

import type { Finished } from "../run";

export class SetUpFailed extends Error {}

export class SetUpCancelled extends Error {}

/** Return the line in which a program says what went wrong. */
export function lastLine({ stdout, stderr }: Finished): string {
  const lines = `${stdout}\n${stderr}`.split(/\r?\n/).filter((line) => line.trim() !== "");
  const told = lines.findLast((line) => /error|×|╰─▶/i.test(line));
  return (told ?? lines.at(-1) ?? "no reason was given").trim();
}
