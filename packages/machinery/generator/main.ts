// Writes src/generated/: the types of the built-in kinds and the constants of their resources. `--check` only compares.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readKubernetesFacts } from './kubernetes-facts.ts';
import { renderBuiltinResources, renderResourceTypes } from './render-resources.ts';
import { renderTypes } from './render-types.ts';
import { chooseTypeNames } from './type-names.ts';

const folder = new URL('../src/generated/', import.meta.url);

function renderAll(): Map<string, string> {
  const facts = readKubernetesFacts();
  const names = chooseTypeNames(facts);
  const header = `// Generated from data/kubernetes-1.36.json (${facts.version}) by generator/main.ts: do not edit, run \`npm run generate\`.\n`;
  const files = new Map<string, string>();
  for (const [module, schemaNames] of names.modules) {
    files.set(`${module}.ts`, `${header}${renderTypes(module, schemaNames, facts, names)}`);
  }
  const exports = [...files.keys()].map((file) => `export type * from './${file}';\n`);
  files.set('resource-types.ts', header + renderResourceTypes(facts, names));
  files.set('builtin-resources.ts', header + renderBuiltinResources(facts, names));
  exports.push(`export * from './builtin-resources.ts';\nexport * from './resource-types.ts';\n`);
  files.set('index.ts', header + exports.join(''));
  return files;
}

/** The names of files that are missing, different or no longer generated. */
function outOfDate(files: Map<string, string>): string[] {
  const present = existsSync(folder) ? readdirSync(folder) : [];
  const changed = [...files].filter(
    ([file, text]) => !present.includes(file) || readFileSync(new URL(file, folder), 'utf8') !== text,
  );
  return [...changed.map(([file]) => file), ...present.filter((file) => !files.has(file))];
}

const files = renderAll();
const stale = outOfDate(files);
if (process.argv.includes('--check')) {
  for (const file of stale) {
    console.error(`out of date: ${fileURLToPath(new URL(file, folder))}; run \`npm run generate\``);
  }
  if (stale.length > 0) process.exitCode = 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const file of stale) {
    const text = files.get(file);
    if (text === undefined) rmSync(new URL(file, folder));
    else writeFileSync(new URL(file, folder), text);
  }
}
