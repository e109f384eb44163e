// What the status item shows: where the extension is on the way to a running server.

import type { Status } from "./protocol";

export type SessionState =
  | { kind: "searching" }
  | { kind: "missing" }
  | { kind: "settingUp"; message: string }
  | { kind: "starting"; origin: string }
  | { kind: "running"; origin: string; status: Status | null }
  | { kind: "failed"; message: string };
