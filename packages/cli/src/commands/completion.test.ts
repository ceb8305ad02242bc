import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { reply } from '@asterism/client/testing';
import { createProgram } from '../program.ts';
import { type FakeHub, fakeTerminal, startFakeHub } from '../testing/fake-hub.ts';
import { complete } from './completion.ts';

describe('completion of what the hub knows', () => {
  let hub: FakeHub;
  const asked: string[] = [];

  before(async () => {
    hub = await startFakeHub((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'https://hub');
      asked.push(pathname);
      const names = pathname.endsWith('/clusters') ? ['alder', 'birch'] : ['web-1', 'web-0', 'db-0'];
      reply(response, { items: names.map((name) => ({ metadata: { name } })) });
    });
  });
  after(() => hub[Symbol.asyncDispose]());

  const rows: [words: string[], candidates: string[]][] = [
    [
      ['exec', '-n', 'demo', 'web'],
      ['web-0', 'web-1'],
    ],
    [
      ['logs', '-n', 'demo', ''],
      ['db-0', 'web-0', 'web-1'],
    ],
    [['port-forward', '-n', 'demo', 'db'], ['db-0']],
    [['port-forward', '-n', 'demo', 'db-0', ''], []],
    [
      ['exec', '-C', 'a'],
      ['alder', 'all'],
    ],
  ];
  for (const [words, candidates] of rows) {
    test(`behind aster ${words.join(' ')}: ${candidates.join(', ') || 'nothing'}`, async () => {
      const terminal = fakeTerminal();
      const [command = '', ...rest] = words;
      const program = createProgram('aster', terminal, () => {});
      await complete(program, [command, '--kubeconfig', hub.kubeconfig, ...rest], terminal);
      assert.deepEqual(terminal.stdout.split('\n').slice(0, -1), candidates);
    });
  }

  test('pods are those of every member, in the namespace that was typed', () => {
    assert.ok(asked.includes('/apis/search.asterism.dev/v1alpha1/resources/api/v1/namespaces/demo/pods'));
  });
});
