import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { reply } from '@asterism/client/testing';
import { hasControls } from '@asterism/machinery';
import { parse } from 'yaml';
import { EXIT } from '../exit-code.ts';
import { type FakeHub, fakeTerminal, startFakeHub } from '../testing/fake-hub.ts';
import { describe as describeObjects } from './describe.ts';
import { get } from './get.ts';
import type { GetFlags } from './get-answer.ts';

/** Colours, a window title, C1, an override of direction, a line end: as a hostile member names its objects. */
const NAME = 'web\u001b[31m\u001b]0;owned\u0007\u009b2J\u202e\r\b\nother   Running\u2028';
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: NAME, namespace: 'demo', annotations: { [NAME]: NAME } },
};
const TYPES = {
  groupVersion: 'v1',
  resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['list', 'get'] }],
};

describe('the names and messages of a hostile member', () => {
  let hub: FakeHub;

  before(async () => {
    hub = await startFakeHub(({ url = '', headers }, response) => {
      const path = url
        .replace(/^\/apis\/proxy\.asterism\.dev\/v1alpha1\/clusters\/edge\/proxy/, '')
        .replace(/\?.*/, '');
      if (path === '/api') return reply(response, { versions: ['v1'] });
      if (path === '/api/v1') return reply(response, TYPES);
      if (path === '/apis') return reply(response, { groups: [] });
      if (path.startsWith('/apis/asterism.dev')) {
        return reply(response, { items: [{ metadata: { name: 'edge' }, status: { conditions: [] } }] });
      }
      if (path.endsWith('/pods/refused')) {
        return reply(response, { kind: 'Status', code: 403, reason: 'Forbidden', message: NAME }, 403);
      }
      if (path.endsWith('/pods/web')) return reply(response, POD);
      const rows = [{ cells: [NAME], object: POD }];
      const table = { kind: 'Table', columnDefinitions: [{ name: 'Name', priority: 0 }], rows, metadata: {} };
      return reply(response, headers.accept?.includes('as=Table') ? table : { items: [POD], metadata: {} });
    });
  });
  after(() => hub[Symbol.asyncDispose]());

  async function shown(words: string[], flags: Partial<GetFlags> = {}) {
    const terminal = fakeTerminal();
    const code = await get(
      words,
      { kubeconfig: hub.kubeconfig, namespace: 'demo', clusters: 'edge', ...flags },
      terminal,
    );
    for (const text of [terminal.stdout, terminal.stderr]) assert.ok(!hasControls(text), JSON.stringify(text));
    return { code, stdout: terminal.stdout, stderr: terminal.stderr };
  }

  test('a table has one line for each object', async () => {
    const { stdout } = await shown(['pods']);
    assert.equal(stdout.trimEnd().split('\n').length, 2, stdout);
    assert.match(stdout, /^edge {6}web\^\[\[31m\^\[\]0;owned\^G\\u009b2J\\u202e\^M\^H\\nother/m);
  });

  test('JSON and YAML say the very same', async () => {
    const json = JSON.parse((await shown(['pods'], { output: 'json' })).stdout) as { items: object[] };
    assert.deepEqual(json.items, [POD]);
    const yaml = parse((await shown(['pods'], { output: 'yaml' })).stdout) as { items: object[] };
    assert.deepEqual(yaml.items, [POD]);
  });

  test('names stay on a line of their own', async () => {
    assert.equal((await shown(['pods'], { output: 'name' })).stdout.trimEnd().split('\n').length, 1);
  });

  test('a refusal is shown without them', async () => {
    const { code, stderr } = await shown(['pods', 'refused']);
    assert.equal(code, EXIT.error);
    assert.match(stderr, /web\^\[\[31m/);
  });

  test('a description is shown without them', async () => {
    const terminal = fakeTerminal();
    await describeObjects(
      ['pods', 'web'],
      { kubeconfig: hub.kubeconfig, namespace: 'demo', clusters: 'edge' },
      terminal,
    );
    assert.match(terminal.stdout, /web\^\[\[31m/);
    assert.ok(!hasControls(terminal.stdout));
  });
});
