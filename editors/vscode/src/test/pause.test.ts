import assert from "node:assert/strict";
import { test } from "node:test";
import { Pause } from "../pause";

const MINUTE = 60_000;

test("a pause ends by itself", () => {
  let now = 5 * MINUTE;
  const pause = new Pause(() => now);
  assert.ok(!pause.isOn && !pause.isOver);
  pause.start(10);
  assert.ok(pause.isOn);
  assert.equal(pause.minutesLeft, 10);
  now += 9.5 * MINUTE;
  assert.ok(pause.isOn);
  assert.equal(pause.minutesLeft, 1);
  now += 0.5 * MINUTE;
  assert.ok(!pause.isOn && pause.isOver);
  assert.equal(pause.minutesLeft, 0);
});

test("a pause without an end does not end by itself", () => {
  const pause = new Pause(() => Number.MAX_SAFE_INTEGER);
  pause.start(Infinity);
  assert.ok(pause.isOn && !pause.isOver);
  assert.equal(pause.minutesLeft, Infinity);
});

test("a pause that is ended is neither on nor over", () => {
  const pause = new Pause(() => 0);
  pause.start(10);
  pause.end();
  assert.ok(!pause.isOn && !pause.isOver);
  assert.equal(pause.minutesLeft, 0);
});
