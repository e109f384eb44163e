// The session's state, which the status item shows.

import type { Status } from "./protocol";

export type SessionState =
  | { kind: "searching" }
  | { kind: "missing" }
  | { kind: "settingUp"; message: string }
  | { kind: "starting"; origin: string }
  | { kind: "running"; origin: string; status: Status | null }
  | { kind: "failed"; message: string };
