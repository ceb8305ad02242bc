// Writes the CustomResourceDefinitions (YAML for people who install them by hand, JSON for the hub that installs them itself) and
// the templates of the agent's manifests, deploy/agent.
// With --check it writes nothing and fails where a file is out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { agentTemplates } from './agent-templates.ts';
import { customResourceDefinitions } from './definitions.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const definitions = customResourceDefinitions();
const files = new Map<string, string>([
  ['packages/fleet/src/generated/custom-resource-definitions.json', `${JSON.stringify(definitions)}\n`],
]);
for (const definition of definitions) {
  const header = '# Generated from packages/fleet/src/api/schema by `npm run generate`. Do not edit.\n';
  files.set(
    `packages/fleet/crds/${definition.metadata.name}.yaml`,
    header + stringify(definition, { aliasDuplicateObjects: false }),
  );
}
for (const [name, text] of agentTemplates()) files.set(`deploy/agent/${name}`, text);

let stale = 0;
for (const [file, text] of files) {
  const path = root + file;
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${file} is out of date: run npm run generate`);
    stale += 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.error(`wrote ${file}`);
  }
}
process.exit(stale > 0 ? 1 : 0);
