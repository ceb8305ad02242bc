import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { reply } from '@asterism/client/testing';
import { CommandError, EXIT } from '../exit-code.ts';
import { type FakeHub, fakeTerminal, startFakeHub } from '../testing/fake-hub.ts';
import { search } from './search.ts';

const POD = { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['list'] };
const cluster = (name: string, region: string) => ({ metadata: { name, labels: { region } } });
const TABLE = {
  kind: 'Table',
  columnDefinitions: [{ name: 'Cluster', priority: 0 }],
  rows: [{ cells: ['birch'] }],
};
const WARNINGS = ['299 - "search: pods in v1 are not indexed of birch"', '299 - "search: cedar may be old"'];

describe('aster search', () => {
  let hub: FakeHub;
  let mayList = true;
  /** What was searched. */
  let asked: URLSearchParams[] = [];

  before(async () => {
    hub = await startFakeHub((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'https://hub');
      if (pathname === '/api') return reply(response, { versions: ['v1'] });
      if (pathname === '/api/v1') return reply(response, { groupVersion: 'v1', resources: [POD] });
      if (pathname === '/apis') return reply(response, { groups: [] });
      if (pathname === '/apis/asterism.dev/v1alpha1/clusters') {
        return mayList
          ? reply(response, { items: [cluster('alder', 'eu'), cluster('birch', 'us'), cluster('cedar', 'us')] })
          : reply(response, { kind: 'Status', reason: 'Forbidden', code: 403, message: 'no' }, 403);
      }
      asked.push(searchParams);
      response.setHeader('warning', [...WARNINGS, ...WARNINGS]);
      return reply(response, TABLE);
    });
  });
  after(() => hub[Symbol.asyncDispose]());
  beforeEach(() => {
    asked = [];
    mayList = true;
  });

  for (const [flag, clusters] of [
    ['region=us', 'birch,cedar'],
    ['region in (eu), region', 'alder'],
    ['cedar, alder', 'cedar,alder'],
    ['all', null],
    [undefined, null],
  ] as const) {
    test(`-C ${flag} asks for ${clusters ?? 'all that may be searched'}`, async () => {
      const flags = { kubeconfig: hub.kubeconfig, ...(flag === undefined ? {} : { clusters: flag }) };
      assert.equal(await search(['pods'], flags, fakeTerminal()), EXIT.fine);
      assert.deepEqual(
        asked.map((query) => query.get('clusters')),
        [clusters],
      );
    });
  }

  for (const [flag, says] of [
    ['birch,oak', /^no cluster "oak": there are alder, birch, cedar$/],
    ['region in (us', /^-C: "region in \(us" is no label expression: /],
    [' , ', /^no cluster named by -C/],
  ] as const) {
    test(`-C ${flag} is refused before anything is searched`, async () => {
      await assert.rejects(
        search(['pods'], { kubeconfig: hub.kubeconfig, clusters: flag }, fakeTerminal()),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage && says.test(error.message),
      );
      assert.deepEqual(asked, []);
    });
  }

  test('a caller who may not list clusters may name them', async () => {
    mayList = false;
    const flags = { kubeconfig: hub.kubeconfig, clusters: 'birch' };
    assert.equal(await search(['pods'], flags, fakeTerminal()), EXIT.fine);
    assert.equal(asked[0]?.get('clusters'), 'birch');
    await assert.rejects(search(['pods'], { ...flags, clusters: 'region=us' }, fakeTerminal()), { code: 403 });
  });

  for (const output of [undefined, 'json'] as const) {
    test(`what the hub warns of is on stderr, once, as kubectl has it (-o ${output})`, async () => {
      const terminal = fakeTerminal();
      const flags = { kubeconfig: hub.kubeconfig, ...(output ? { output } : {}) };
      await search(['pods'], flags, terminal);
      assert.equal(
        terminal.stderr,
        'Warning: search: pods in v1 are not indexed of birch\nWarning: search: cedar may be old\n',
      );
      assert.doesNotMatch(terminal.stdout, /Warning/);
    });
  }
});
