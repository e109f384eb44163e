// Bundles the extension into dist/extension.js, with the licences of what is in it; with --tests, the
// unit tests into dist/test/.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
  const { metafile } = await build({
    ...common,
    metafile: true,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: true,
  });
  const found = Object.keys(metafile.inputs).map((path) =>
    /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path),
  );
  const folders = [...new Set(found.flatMap((match) => match?.[0] ?? []))].sort();
  writeFileSync("THIRD_PARTY_NOTICES.txt", folders.map(notice).join("\n\n"));
}

/** Return the name, version and licence of a bundled package; one without a licence's text is an error. */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((it) => /^licen[cs]e/i.test(it));
  if (file === undefined) {
    throw new Error(`${folder} has no licence to bundle`);
  }
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
