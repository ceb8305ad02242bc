import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

interface Example {
  name: string;
  module: string;
  code: string;
}
interface Checked {
  faults: string[];
  imports: Map<Example, string>;
}

const { href } = new URL('../../scripts/check-examples.js', import.meta.url);
const { checkExamples } = (await import(href)) as { checkExamples: (examples: readonly Example[]) => Checked };

const good = [
  'const owner: Deployment | undefined = cluster.cache.get(DEPLOYMENTS, { namespace: `shop`, name: hostname() });',
  'createController({ name: owner?.kind ?? "none", reconcile });',
].join('\n');
const bad: [name: string, code: string, fault: RegExp][] = [
  ['a name that there is not', 'createManger({ client, logger });', /createManger\(.*Cannot find name 'createManger'/],
  ['an option that is missing', 'createManager({ client });', /Property 'logger' is missing/],
  ['an option that there is not', 'createManager({ client, logger, loud: true });', /'loud' does not exist/],
  ['what is no TypeScript', 'const = 1;', /./],
];
const examples = [good, ...bad.map(([, code]) => code)].map((code) => ({
  name: 'it',
  module: '@asterism/runtime',
  code,
}));
const { faults, imports } = checkExamples(examples);
const faultsOf = (index: number) =>
  faults.filter((fault) => fault.startsWith(`scripts/example-${index}-it.ts: `)).join();

describe('an example of a doc comment', () => {
  test('is given what it uses, and its reader is told what to import', () => {
    assert.equal(faultsOf(0), '');
    const [first] = examples;
    assert.deepEqual(first && imports.get(first)?.split('\n'), [
      "import { type Deployment, DEPLOYMENTS } from '@asterism/machinery';",
      "import { createController } from '@asterism/runtime';",
      "import { hostname } from 'node:os';",
    ]);
  });

  for (const [index, [name, , fault]] of bad.entries()) {
    test(`does not pass with ${name}`, () => assert.match(faultsOf(index + 1), fault));
  }
});
