import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runArea, type ScenarioResult } from '../../conformance/run-area.ts';
import { listScenarioFiles } from '../../conformance/scenario.ts';

const RECORDINGS = fileURLToPath(new URL('../../../../shared/kube/recorded-1.36', import.meta.url));
const DIFFERENCES = fileURLToPath(new URL('../../../docs/reference/api-differences.md', import.meta.url));
const skip = existsSync(RECORDINGS) ? false : `no recordings: ${RECORDINGS} is not there`;

/** Shares that must match. What needs the evaluation of CEL is not counted yet. */
const AT_LEAST: Readonly<Record<string, number>> = {
  auth: 0.95,
  crd: 0.95,
  crud: 0.95,
  defaulting: 0.95,
  discovery: 0.95,
  'list-and-watch': 0.95,
  misc: 0.95,
  patches: 0.95,
  ssa: 0.95,
  subresources: 0.95,
  tables: 0.95,
};

/** Admission policies and pod security, which are not there yet. */
const LATER = /^misc-(vap|map|podsecurity)-/;

/** The first cells of the table of scenarios that differ, `*` standing for any end of a name. */
function listedDifferences(): string[] {
  const [, table = ''] = readFileSync(DIFFERENCES, 'utf8').split('## Recorded answers that are not matched');
  return [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z0-9-]+\*?)`/g)].map(([, name = '']) => name),
  );
}

function isNamed(name: string, listed: string): boolean {
  return listed.endsWith('*') ? name.startsWith(listed.slice(0, -1)) : listed === name;
}

describe('recorded answers of Kubernetes 1.36', { skip }, () => {
  const listed = skip === false ? listedDifferences() : [];
  const files = skip === false ? listScenarioFiles(RECORDINGS).filter(({ area }) => area in AT_LEAST) : [];
  const found: string[] = [];

  for (const file of files) {
    const share = AT_LEAST[file.area] ?? 1;
    test(`${file.area}: at least ${share * 100} % are matched, and each other one is explained`, async () => {
      const { scenarios } = await runArea(file, (name) => !LATER.test(name));
      const counted = scenarios.filter(({ usesCel }) => !usesCel);
      const different = (each: ScenarioResult): boolean => each.difference !== undefined;
      const missed = counted.filter(different);
      found.push(...scenarios.filter(different).map(({ name }) => name));
      assert.ok(missed.length <= counted.length * (1 - share), missed.map(({ name }) => name).join(', '));
      const unexplained = scenarios.filter(
        (each) => different(each) && !listed.some((pattern) => isNamed(each.name, pattern)),
      );
      assert.deepEqual(
        unexplained.map(({ name, difference }) => `${name}: ${difference?.slice(0, 400)}`),
        [],
      );
    });
  }

  test('all areas are there, and what is explained is still different', () => {
    assert.deepEqual(files.map(({ area }) => area).sort(), Object.keys(AT_LEAST).sort());
    const stale = listed.filter((pattern) => !found.some((name) => isNamed(name, pattern)));
    assert.deepEqual(stale, []);
  });
});
