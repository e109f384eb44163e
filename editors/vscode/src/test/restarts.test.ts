import assert from "node:assert/strict";
import { test } from "node:test";
import { Restarts } from "../restarts";

test("a server that has ended is started again, but not one that ends over and over", () => {
  const restarts = new Restarts(() => 0);
  const startedAgain = [1, 2, 3, 4, 5].map(() => restarts.afterEnd(true));
  assert.deepEqual(startedAgain, [true, true, true, true, false]);
});

test("ends of long ago do not count", () => {
  let now = 0;
  const restarts = new Restarts(() => now);
  for (let end = 0; end < 20; end += 1) {
    now += 60_000;
    assert.ok(restarts.afterEnd(true));
  }
});

test("a server that does not even start is not started again", () => {
  assert.equal(new Restarts().afterEnd(false), false);
});
