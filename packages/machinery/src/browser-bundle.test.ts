import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import { build } from 'esbuild';

/** What a browser has besides ECMAScript and machinery uses. There is no process, no Buffer, and nothing to load files with. */
const WEB = { TextEncoder, TextDecoder, URL, btoa };

/** Bundles a program for browsers. A part of Node that the program imports, directly or not, is an error. */
async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'result',
    target: 'es2024',
    conditions: ['asterism-source'],
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

/** The default export of a program, once it has run in a bundle. */
async function run(program: string): Promise<unknown> {
  const result: unknown = await vm.runInNewContext(`${await bundle(program)}; result.default`, { ...WEB });
  return JSON.parse(JSON.stringify(result));
}

const PROGRAMS: readonly [name: string, program: string, expected: unknown][] = [
  [
    'quantities',
    `import { addQuantities, formatQuantity, parseQuantity, quantityToNumber } from '@asterism/machinery';
     const sum = addQuantities(parseQuantity('1Gi'), parseQuantity('512Mi'));
     export default [quantityToNumber(parseQuantity('1500m')), formatQuantity(sum)];`,
    [1.5, '1536Mi'],
  ],
  [
    'a merge patch',
    `import { applyMergePatch } from '@asterism/machinery';
     export default applyMergePatch({ spec: { replicas: 2, paused: true } }, { spec: { replicas: 3, paused: null } });`,
    { spec: { replicas: 3 } },
  ],
  [
    'server-side apply of a built-in kind',
    `import { applyObject, schemaOfKind } from '@asterism/machinery';
     const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } };
     const applied = { ...live, data: { b: '2' } };
     const schema = schemaOfKind({ group: '', version: 'v1', kind: 'ConfigMap' });
     export default applyObject({ live, applied, schema, manager: 'page', time: '2026-01-02T03:04:05Z' }).object.data;`,
    { a: '1', b: '2' },
  ],
  [
    'validation by a schema with a pattern and formats',
    `import { customResourceSchema, validateSchema } from '@asterism/machinery';
     const schema = customResourceSchema({
       type: 'object',
       properties: { name: { type: 'string', pattern: '^\\\\pL+$' }, address: { type: 'string', format: 'ipv6' } },
     });
     export default validateSchema({ name: '1', address: '::x' }, schema).map(({ field }) => field);`,
    ['name', 'address'],
  ],
  [
    'a table',
    `import { DEPLOYMENTS, tableFor } from '@asterism/machinery';
     const web = { metadata: { name: 'web' }, spec: { replicas: 2, selector: {}, template: {} } };
     const { columnDefinitions, rows } = tableFor(DEPLOYMENTS, [web], { now: 0, wide: false });
     export default [rows[0].cells.slice(0, 2), columnDefinitions[0].description.slice(0, 20)];`,
    [['web', '0/2'], 'Name must be unique '],
  ],
  [
    'protobuf',
    `import { inGoOrder, loadProtobuf } from '@asterism/machinery';
     const kind = { group: '', version: 'v1', kind: 'Secret' };
     const secret = { metadata: { name: 's' }, kind: 'Secret', apiVersion: 'v1', data: { key: 'dmFsdWU=' } };
     export default loadProtobuf().then((protobuf) => [
       protobuf.decode(protobuf.encode(secret)).data,
       Object.keys(inGoOrder(secret, kind)),
     ]);`,
    [{ key: 'dmFsdWU=' }, ['kind', 'apiVersion', 'metadata', 'data']],
  ],
];

describe('in a bundle for a browser', () => {
  for (const [name, program, expected] of PROGRAMS) {
    test(name, async () => {
      assert.deepEqual(await run(program), expected);
    });
  }

  test('data that a program does not use is not in its bundle', async () => {
    const bundled = await bundle(PROGRAMS[0]![1]);
    assert.ok(bundled.length < 20_000, `${bundled.length} characters`);
  });
});
