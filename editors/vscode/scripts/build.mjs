// Bundles the extension into dist/extension.js; with --tests, the unit tests into dist/test/.

import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const common = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  logLevel: "warning",
};

if (process.argv.includes("--tests")) {
  rmSync("dist/test", { recursive: true, force: true });
  const tests = readdirSync("src/test").map((name) => `src/test/${name}`);
  const alias = { vscode: "./scripts/noVscode.cjs" };
  await build({ ...common, entryPoints: tests, outdir: "dist/test", alias });
} else {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: true,
  });
}
