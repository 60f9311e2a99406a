// SPDX-License-Identifier: Apache-2.0
// build.mjs FOLDER: bundles the page's script and style into FOLDER/page.js and FOLDER/page.css.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), folder = process.argv[2];
if (!folder) {
	console.error("usage: node web/build.mjs FOLDER");
	process.exit(2);
}

// By this number tests/integration/test_web.py knows, without node, whether a bundle is that of the sources.
function sourcesHash() {
	const hash = createHash("sha256"), names = readdirSync(join(here, "src")).sort().map((name) => join("src", name));
	for (const name of [...names, "build.mjs", "package-lock.json"])
		hash.update(name + "\0").update(readFileSync(join(here, name))).update("\0");
	return hash.digest("hex");
}

const NOTE = `SPDX-License-Identifier: Apache-2.0
Built from web/ by "make web": do not edit. Sources: ${sourcesHash()}`;
// uPlot's notice, which its license asks for.
const UPLOT = `Contains uPlot. Copyright (c) 2025 Leon Sorokin. MIT License:
${readFileSync(join(here, "node_modules/uplot/LICENSE"), "utf8").replace(/^[\s\S]*?(?=Permission)/, "").trim()}`;

async function bundle(entry, banner) {
	const result = await esbuild.build({
		absWorkingDir: here, entryPoints: [entry], bundle: true, minify: true, write: false, format: "iife", target: "es2022",
		legalComments: "none", charset: "ascii", loader: { ".css": "css" },
	});
	return `${banner}\n${result.outputFiles[0].text}`;
}

const script = await bundle("src/main.ts", `/* ${NOTE}\n${UPLOT} */`), style = await bundle("src/page.css", `/* ${NOTE}\n${UPLOT} */`);
// The page is XML, too: the script stands in a section that ends with these characters.
if (/\]\]>|<\/script/i.test(script) || /[<&]/.test(style) || /https?:|url\(|@import/.test(script + style))
	throw new Error("the bundle has text that a page can't contain");
writeFileSync(join(folder, "page.js"), `//<![CDATA[\n${script}//]]>\n`);
writeFileSync(join(folder, "page.css"), style);
