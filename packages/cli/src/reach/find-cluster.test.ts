import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { failure, notFound } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import { type Fleet, findCluster, type FindOptions, type Quest } from './find-cluster.ts';

/** What a member does when it is asked: it has it, has not, is cut off, or never answers. */
type Member = 'has' | 'has not' | 'forbids' | 'hangs';

interface Case {
  members: Record<string, Member>;
  /** What search answers; absent: it cannot be asked. */
  searched?: string[];
  mayList?: boolean;
}

function setUp({ members, searched, mayList = true }: Case) {
  const asked: string[] = [];
  const paths: string[] = [];
  const hub = {
    getJson: (path: string) => {
      paths.push(path);
      if (searched === undefined) return Promise.reject(failure(503, 'no search'));
      const items = searched.map((name) => ({ metadata: { annotations: { 'search.asterism.dev/cluster': name } } }));
      return Promise.resolve({ items });
    },
    resource: () => ({
      list: () =>
        mayList
          ? Promise.resolve({ items: Object.keys(members).map((name) => ({ metadata: { name } })) })
          : Promise.reject(failure(403, 'you may not list clusters')),
    }),
  } as unknown as Client;
  const fleet: Fleet = { hub, member: (cluster) => ({ cluster }) as unknown as Client };
  const quest: Quest<string> = {
    what: 'pod "web"',
    path: '/api/v1/namespaces/demo/pods?names=web',
    ask(client, signal) {
      const { cluster } = client as unknown as { cluster: string };
      asked.push(cluster);
      const member = members[cluster];
      if (member === 'has') return Promise.resolve(`web of ${cluster}`);
      if (member === 'forbids') return Promise.reject(failure(403, 'not for you'));
      if (member === 'has not') return Promise.reject(notFound({ group: '', resource: 'pods' }, 'web'));
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
  };
  const notes: string[] = [];
  const find = (options: Partial<FindOptions> = {}) =>
    findCluster(fleet, quest, { deadlineMs: 100, note: (line) => notes.push(line), ...options });
  return { find, asked, paths, notes };
}

describe('the cluster in which something is', () => {
  test('is where search says, and nobody else is asked', async () => {
    const { find, asked, paths } = setUp({ members: { a: 'has', b: 'has not', c: 'hangs' }, searched: ['a'] });
    const { cluster, answer } = await find();
    assert.deepEqual([cluster, answer, asked], ['a', 'web of a', ['a']]);
    assert.deepEqual(paths, ['/apis/search.asterism.dev/v1alpha1/resources/api/v1/namespaces/demo/pods?names=web']);
  });

  test('is found where search is behind: it has gone from one and come to another', async () => {
    const { find, asked } = setUp({ members: { a: 'has not', b: 'has' }, searched: ['a'] });
    assert.equal((await find()).cluster, 'b');
    assert.deepEqual(asked, ['a', 'b']);
  });

  test('is the one that still has it of two that search names', async () => {
    const { find } = setUp({ members: { a: 'has not', b: 'has' }, searched: ['a', 'b'] });
    assert.equal((await find()).cluster, 'b');
  });

  for (const searched of [undefined, []]) {
    test(`is found by asking all where search ${searched ? 'does not know' : 'cannot be asked'}`, async () => {
      const { find, notes } = setUp({ members: { a: 'has not', b: 'has', c: 'hangs' }, ...(searched && { searched }) });
      assert.equal((await find()).cluster, 'b');
      assert.deepEqual(notes, ['pod "web" is in b; who did not say: c (no answer in 0.1 s)']);
    });
  }

  test('that -C names is taken at its word', async () => {
    const { find, asked } = setUp({ members: { a: 'has', b: 'has' } });
    assert.equal((await find({ clusters: 'b' })).cluster, 'b');
    assert.deepEqual(asked, ['b']);
  });

  test('is looked for among those that -C names', async () => {
    const { find, asked, paths } = setUp({ members: { a: 'has', b: 'has', c: 'has not' }, searched: ['b'] });
    assert.equal((await find({ clusters: 'b,c' })).cluster, 'b');
    assert.deepEqual(asked, ['b']);
    assert.match(paths[0] ?? '', /&clusters=b%2Cc$/);
  });

  const refusals: [name: string, about: Case, clusters: string | undefined, message: RegExp, code: number][] = [
    [
      'in several',
      { members: { a: 'has', b: 'has', c: 'hangs' } },
      undefined,
      /^pod "web" is in several clusters: a, b\. Say in which with -C; who did not say: c /,
      EXIT.usage,
    ],
    [
      'in several, as search knows',
      { members: { a: 'has', b: 'has' }, searched: ['a', 'b'] },
      undefined,
      /a, b/,
      EXIT.usage,
    ],
    [
      'nowhere, and some did not say',
      { members: { a: 'has not', b: 'forbids', c: 'hangs' } },
      undefined,
      /^there is no pod "web" in a; who did not say: b \(.*not for you\), c \(no answer in 0\.1 s\)$/,
      EXIT.error,
    ],
    [
      'where search knows it, and nobody answers',
      { members: { a: 'has not', b: 'hangs' }, searched: ['b'] },
      undefined,
      /^pod "web" is where it cannot be asked for now, as search knows: b \(no answer in 0\.1 s\)$/,
      EXIT.error,
    ],
    ['not where -C says', { members: { a: 'has not' } }, 'a', /^there is no pod "web" in cluster a$/, EXIT.error],
    [
      'not to be found by one who may not list clusters',
      { members: { a: 'has' }, mayList: false },
      undefined,
      /you may not list clusters: say with -C/,
      EXIT.forbidden,
    ],
  ];
  for (const [name, about, clusters, message, code] of refusals) {
    test(`is not told: ${name}`, async () => {
      await assert.rejects(
        setUp(about).find({ clusters }),
        (error) => error instanceof CommandError && message.test(error.message) && error.exitCode === code,
      );
    });
  }
});
