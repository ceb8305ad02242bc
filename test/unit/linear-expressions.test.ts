import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { slowSearch } = (await import(`${ROOT}scripts/lint/search-time.js`)) as {
  slowSearch: (pattern: string, flags: string, timeout?: number) => string | undefined;
};

/** What a million characters of a caller's text once ran into. */
const SLOW: Readonly<Record<string, RegExp>> = {
  quantity: /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/,
  'trailing dashes of a generateName': /-+$/,
  'fieldPath with a subscript': /^(.+?)\['(.*)'\]$/,
  'PEM block, ended by the type of its head': /-----BEGIN ([^-\n]+)-----\r?\n[\s\S]*?-----END \1-----/g,
  'PEM block of one type': /-----BEGIN CERTIFICATE REQUEST-----\s[\s\S]*?-----END CERTIFICATE REQUEST-----/,
  'white space at the end of a JSON text': /\s*$/,
  'line of a ClusterConfiguration': /^\s+(podSubnet|serviceSubnet): *"?([0-9a-fA-F.:/,]+)"?\s*$/gm,
  'fields in a refusal': /(\.\S[^\n]*?): field not declared in schema/g,
  'quantity in a schema': /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/,
  'exponential time': /^(a+)+$/,
  'a search that starts at each blank': /^\s+a/m,
  'two runs that can share characters': /^\w+\d+$/,
};

const LINEAR: Readonly<Record<string, RegExp>> = {
  label: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  'subdomain, by its parts': /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+)*$/,
  'quoted text': /^"(?:[^"\\]|\\.)*"$/,
  'the rest of a line': /\?.*/,
  'sticky runs': /(\d+)([hms])/gy,
  'one character': /[1-9]/,
};

for (const [name, { source, flags }] of Object.entries(SLOW))
  test(`refused: ${name}`, () => assert.match(slowSearch(source, flags, 5_000) ?? '', /^(takes|cannot be shown)/));

for (const [name, { source, flags }] of Object.entries(LINEAR))
  test(`allowed: ${name}`, () => assert.equal(slowSearch(source, flags), undefined));

const FILE = `
const DIGITS = '\\\\d+';
const PARTS = ['a', 'b'] as const;
let changing = 'a';
export const slowLiteral = /-+$/;
export const slowTemplate = new RegExp(\`\${DIGITS}$\`);
export const slowCall = RegExp('-+$');
export const fast = new RegExp(\`^(?:\${DIGITS}|\${PARTS.join('|')})$\`);
export const copied = new RegExp(/^a+$/.source + 'b', 'g');
export const open = (text: string): RegExp => new RegExp(text);
export const openConstant = (): RegExp => new RegExp(changing);
export const excused = (text: string): RegExp =>
  // oxlint-disable-next-line asterism/linear-expression -- a reason
  new RegExp(text);
export const change = (): void => void (changing = 'b');
`;

test('the linter names every slow expression and every one that is built while the program runs', async () => {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.cache-lint-'));
  try {
    const config = {
      jsPlugins: [join(ROOT, 'scripts/lint/linear-expression.js')],
      rules: { 'asterism/linear-expression': 'error' },
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify({ ...config, categories: { correctness: 'off' } }));
    await writeFile(join(folder, 'sample.ts'), FILE);
    const oxlint = join(ROOT, 'node_modules/.bin/oxlint');
    const args = ['-c', 'config.json', '--no-ignore', '-f', 'unix', 'sample.ts'];
    const { stdout } = spawnSync(oxlint, args, { cwd: folder, encoding: 'utf8' });
    const lines = FILE.split('\n');
    const named = [...stdout.matchAll(/sample\.ts:(\d+):/g)].map(([, line]) => lines[Number(line) - 1]?.split(' ')[2]);
    assert.deepEqual(
      named.toSorted((a = '', b = '') => a.localeCompare(b)),
      ['open', 'openConstant', 'slowCall', 'slowLiteral', 'slowTemplate'],
      stdout,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
