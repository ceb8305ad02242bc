import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseArguments } from './parse-arguments.ts';
import { renderResults } from './report.ts';
import { runArea } from './run-area.ts';
import type { Scenario } from './scenario.ts';

const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
after(() => rmSync(folder, { recursive: true }));

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const HEADERS = { 'content-type': 'application/json' };

/** Deletes what the first step made: the answer is a Status that names it with the uid that the first step was given. */
function lifeOf(name: string, kind: string): Scenario {
  const meta = {
    name,
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const managedFields = [
    {
      manager: 'conformance',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
    },
  ];
  const uid = '11111111-2222-4333-8444-555555555555';
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { ...meta, uid, managedFields },
    data: { a: '1' },
  };
  return {
    name,
    area: 'small',
    steps: [
      {
        request: { method: 'POST', path: CONFIG_MAPS, body: { metadata: { name }, data: { a: '1' } } },
        response: { status: 201, headers: HEADERS, body: object },
      },
      { wait: { request: { method: 'GET', path: `${CONFIG_MAPS}/${name}` }, status: 200 } },
      {
        watch: { path: CONFIG_MAPS, query: { watch: 'true', fieldSelector: `metadata.name=${name}` } },
        until: { events: 1 },
        events: [{ type: 'ADDED', object }],
      },
      {
        request: {
          method: 'DELETE',
          path: `${CONFIG_MAPS}/${name}`,
          body: { preconditions: { uid: '{{steps.0.body.metadata.uid}}' } },
        },
        response: {
          status: 200,
          headers: HEADERS,
          body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name, kind, uid } },
        },
      },
    ],
  };
}

function writeArea(name: string, scenarios: Scenario[]): string {
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, scenarios.map((scenario) => `${JSON.stringify(scenario)}\n`).join(''));
  return path;
}

describe('a run of scenarios', () => {
  test('matches what is the same, and says where the rest first differs', async () => {
    const path = writeArea('small', [lifeOf('same', 'configmaps'), lifeOf('other', 'secrets')]);
    const result = await runArea({ area: 'small', path }, () => true);
    assert.equal(result.scenarios[0]?.difference, undefined);
    assert.match(
      result.scenarios[1]?.difference ?? '',
      /^DELETE .*other: answers\.0\.body\.details\.kind\n.*"secrets"\n.*"configmaps"$/,
    );
    assert.match(renderResults([result]), /^small +1 of +2 +50\.0 %\nmatched 1 of 2\n$/);
  });

  test('runs those alone whose name is wanted', async () => {
    const path = writeArea('chosen', [lifeOf('one', 'configmaps'), lifeOf('two', 'configmaps')]);
    const { scenarios } = await runArea({ area: 'chosen', path }, (name) => name === 'two');
    assert.deepEqual(
      scenarios.map(({ name }) => name),
      ['two'],
    );
  });

  test('of a folder without scenarios says so and exits with 2', async () => {
    const main = new URL('main.ts', import.meta.url).pathname;
    const empty = mkdtempSync(join(folder, 'empty-'));
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      const args = ['--conditions=asterism-source', main, empty];
      execFile(process.execPath, args, (error, _, errors) => resolve({ code: error?.code, stderr: errors }));
    });
    assert.equal(code, 2);
    assert.match(stderr, /there is no \*\.jsonl in .*empty-/);
  });
});

describe('the command line', () => {
  test('serves on an address', () => {
    assert.deepEqual(parseArguments(['--serve', '127.0.0.1:6443'], '/d'), {
      kind: 'serve',
      host: '127.0.0.1',
      port: 6443,
    });
    assert.deepEqual(parseArguments(['--serve', '[::1]:0'], '/d'), { kind: 'serve', host: '::1', port: 0 });
  });

  test('takes the recordings beside the project unless a folder is named', () => {
    assert.deepEqual(parseArguments([], '/d'), { kind: 'run', folder: '/d', failed: false });
    assert.deepEqual(parseArguments(['/e', '--show', 'x'], '/d'), {
      kind: 'run',
      folder: '/e',
      failed: false,
      show: 'x',
    });
  });

  for (const args of [['--serve', '6443'], ['--serve', 'localhost:99999'], ['a', 'b'], ['--nothing']]) {
    test(`refuses ${args.join(' ')}`, () => assert.throws(() => parseArguments(args, '/d')));
  }
});
