import assert from "node:assert/strict";
import { test } from "node:test";
import { translate, uvSettingsFromPip } from "../setup/pipSettings";

test("pip's indexes, links and certificate become uv's", () => {
  const list = [
    "global.index-url='https://mirror.example/simple'",
    "global.extra-index-url='https://a.example/simple https://b.example/simple'",
    "user.find-links='/wheels /more-wheels'",
    "global.cert='/etc/ssl/mine.pem'",
    "global.timeout='60'",
  ].join("\n");
  assert.deepEqual(translate(list), {
    UV_DEFAULT_INDEX: "https://mirror.example/simple",
    UV_INDEX: "https://a.example/simple https://b.example/simple",
    UV_INDEX_STRATEGY: "unsafe-best-match",
    UV_FIND_LINKS: "/wheels,/more-wheels",
    SSL_CERT_FILE: "/etc/ssl/mine.pem",
  });
});

test("pip's variables go before its files, as they do in pip", () => {
  const list = "global.find-links='/from-file'\n:env:.find-links='/from-variable'";
  assert.deepEqual(translate(list), { UV_FIND_LINKS: "/from-variable" });
});

test("what the user says to uv stays as it is", async () => {
  const run = async () => ({ code: 0, stdout: "global.find-links='/pip'\n", stderr: "" });
  assert.deepEqual(await uvSettingsFromPip(run, "python3", "/own", { UV_FIND_LINKS: "/mine" }), {});
});

test("a Python without pip says nothing", async () => {
  const run = async () => ({ code: 1, stdout: "", stderr: "No module named pip" });
  assert.deepEqual(await uvSettingsFromPip(run, "python3", "/own", {}), {});
});
