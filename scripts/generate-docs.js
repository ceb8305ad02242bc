// Writes docs/reference from what the code says: the API from its CustomResourceDefinitions, the command line from the program, the
// runtime from its doc comments.
// With --check it writes nothing and fails where a page is out of date, or stands there and belongs to nothing.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { apiPages } from './generate-docs-api.js';
import { commandPage } from './generate-docs-cli.js';
import { runtimePages } from './generate-docs-runtime.js';

const folder = new URL('../docs/reference/', import.meta.url);
const runtime = runtimePages();
const pages = new Map([...(await apiPages()), ['cli.md', commandPage()], ...runtime.pages]);
const check = process.argv.includes('--check');
for (const fault of runtime.faults) console.error(fault);
let stale = runtime.faults.length;

/** @param {string} page @param {() => void} mend */
function report(page, mend) {
  if (check) {
    console.error(`docs/reference/${page} is out of date: run npm run generate`);
    stale += 1;
  } else {
    mend();
    console.error(`wrote docs/reference/${page}`);
  }
}

for (const [page, text] of pages) {
  const path = new URL(page, folder);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  report(page, () => {
    mkdirSync(dirname(path.pathname), { recursive: true });
    writeFileSync(path, text);
  });
}
for (const below of ['api/', 'runtime/']) {
  const made = new URL(below, folder);
  for (const name of existsSync(made) ? readdirSync(made).sort() : []) {
    if (!pages.has(below + name)) report(below + name, () => rmSync(new URL(name, made)));
  }
}
process.exit(stale > 0 ? 1 : 0);
