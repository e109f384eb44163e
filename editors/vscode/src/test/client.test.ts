import assert from "node:assert/strict";
import { test } from "node:test";
import { LanguageClient } from "vscode-languageclient/node";
import { restarting } from "../client";

for (const hasStarted of [true, false]) {
  const what = hasStarted ? "once it ends over and over" : "if it does not even start";
  test(`a server that has ended is not started again ${what}`, async () => {
    const client = Object.create(LanguageClient.prototype) as LanguageClient;
    client.isRunning = () => hasStarted;
    const told: boolean[] = [];
    const onEnded = (isStartedAgain: boolean) => told.push(isStartedAgain);
    const handler = restarting(onEnded, () => client);
    for (let end = 0; end < 5; end += 1) {
      await handler.closed();
    }
    assert.deepEqual(told, [...Array<boolean>(4).fill(hasStarted), false]);
  });
}
