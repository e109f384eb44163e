import assert from "node:assert/strict";
import { test } from "node:test";
import type { Status } from "../protocol";
import { statusText, whyText } from "../statusItem";

const ready: Status = {
  state: "ready",
  model: "small-model",
  message: null,
  progress: null,
  last: null,
  told: [],
};
const figures = "212 ms · 9 forward passes";
const shown = {
  last: { uri: "file:///a.py", shown: true, unsure: false },
  told: ["Last: a suggestion was shown", figures],
};
const running = (status: Status | null) =>
  ({ kind: "running", origin: "the PATH", status }) as const;

test("a ready server has its name, with its model and the last answer's figures on pointing", () => {
  const { text, tooltip, isWarning } = statusText(running({ ...ready, ...shown }), 0);
  assert.match(text, /Intarsia$/);
  assert.match(tooltip.join("\n"), /small-model/);
  assert.ok(!isWarning);
  assert.ok(tooltip.includes(figures));
});

test("the reason why nothing was shown is told", () => {
  const told = ["Last: nothing was shown: the file looks like a secret", figures];
  const state = running({ ...ready, last: { ...shown.last, shown: false }, told });
  assert.match(statusText(state, 0).tooltip.join("\n"), /the file looks like a secret/);
  assert.match(whyText(state, 0), /the file looks like a secret$/, "short enough for a toast");
});

test("a text that was hidden as improbable says which key shows it", () => {
  const hidden = { ...shown.last, shown: false, unsure: true };
  assert.match(statusText(running({ ...ready, last: hidden }), 0).text, /unsure: Alt\+\\ shows it/);
  assert.doesNotMatch(
    statusText(running({ ...ready, state: "working", last: hidden }), 0).text,
    /unsure/,
  );
});

test("loading shows how far it is, where that is known", () => {
  const loading: Status = { ...ready, state: "loading", message: "downloading the model" };
  assert.match(statusText(running({ ...loading, progress: 0.427 }), 0).text, /43 %/);
  assert.doesNotMatch(statusText(running(loading), 0).text, /%/);
  assert.equal(whyText(running(loading), 0), "downloading the model");
});

test("a failure is a warning and says what to do", () => {
  const message = "no memory for the model: close other programs";
  const state = running({ ...ready, state: "failed", message });
  const { isWarning, tooltip } = statusText(state, 0);
  assert.ok(isWarning);
  assert.equal(tooltip[0], message);
  assert.equal(whyText(state, 0), message);
  assert.ok(statusText({ kind: "failed", message }, 0).isWarning);
});

test("a pause shows above what the server says, and for how long", () => {
  assert.match(statusText(running(ready), 7).tooltip[0] ?? "", /7 more min/);
  assert.match(whyText(running({ ...ready, ...shown }), 7), /7 more min/);
  assert.match(whyText(running(ready), Infinity), /until a restart/);
});

test("a server that tells no status is still shown as running", () => {
  assert.match(statusText(running(null), 0).text, /Intarsia/);
  assert.match(whyText(running(null), 0), /the PATH/);
});
