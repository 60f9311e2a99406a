// SPDX-License-Identifier: Apache-2.0
// test.mjs FOLDER: bundles the unit tests into FOLDER and runs them with node's test runner.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), folder = process.argv[2];
if (!folder) {
	console.error("usage: node web/test.mjs FOLDER");
	process.exit(2);
}
const names = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts"));
await esbuild.build({
	entryPoints: names.map((name) => join(here, "test", name)), bundle: true, platform: "node", format: "esm", outdir: folder,
	outExtension: { ".js": ".mjs" }, logLevel: "error",
});
const files = names.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
