import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldRequirement, Query } from '../query/query.ts';
import type { ObjectRow, Source } from '../row.ts';
import type { SearchStore } from '../search-store.ts';
import { arbitraryQuery, arbitraryRow, arbitrarySource } from '../testing/arbitrary.ts';
import { naiveQuery, type NaiveRow } from '../testing/naive-query.ts';
import { createSqliteStore } from './create-sqlite-store.ts';
import { SearchSteps } from './search-steps.ts';

const PODS: Source = { cluster: 'c1', group: '', version: 'v1', resource: 'pods' };

function row(name: string, more: Partial<ObjectRow> = {}): ObjectRow {
  return { namespace: 'n', name, kind: 'Pod', uid: name, resourceVersion: '1', createdAt: 0, object: '{}', ...more };
}

async function storeOf(rows: readonly NaiveRow[]): Promise<SearchStore> {
  const store = await createSqliteStore({ file: ':memory:' });
  for (const each of rows) await store.applyChanges(each, { upserts: [each] });
  return store;
}

/** One of each key: as a store has them. */
function distinct(rows: readonly (readonly [Source, ObjectRow])[]): NaiveRow[] {
  const byKey = new Map<string, NaiveRow>();
  for (const [source, { ...object }] of rows) {
    const { cluster, group, version, resource } = source;
    byKey.set(JSON.stringify([cluster, group, version, resource, object.namespace, object.name]), {
      ...source,
      ...object,
    });
  }
  return [...byKey.values()];
}

function identity({
  cluster,
  group,
  version,
  resource,
  namespace,
  name,
}: Source & { namespace: string; name: string }) {
  return [cluster, group, version, resource, namespace, name].join('|');
}

const arbitraryRows = fc.array(fc.tuple(arbitrarySource, arbitraryRow), { minLength: 5, maxLength: 40 }).map(distinct);

test('a query finds what a filter in memory finds, in its order, in one answer or in pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryRows,
      fc.array(fc.tuple(arbitraryQuery, fc.integer({ min: 1, max: 7 })), { minLength: 12, maxLength: 12 }),
      async (rows, queries) => {
        await using store = await storeOf(rows);
        for (const [query, limit] of queries) {
          const expected = naiveQuery(rows, query).map(identity);
          const all = await store.query({ ...query, countRemaining: true });
          assert.deepEqual(all.rows.map(identity), expected, JSON.stringify(query));
          assert.deepEqual({ continue: all.continue, remaining: all.remaining }, { continue: undefined, remaining: 0 });
          assert.deepEqual(await inPages(store, query, limit), expected, `pages: ${JSON.stringify(query)}`);
        }
      },
    ),
    { numRuns: 40 },
  );
});

async function inPages(store: SearchStore, query: Query, limit: number): Promise<string[]> {
  const found: string[] = [];
  const remaining: number[] = [];
  let next: string | undefined;
  do {
    const page = await store.query({ ...query, limit, countRemaining: true, continue: next });
    assert.ok(page.rows.length <= limit);
    assert.ok(page.continue === undefined || page.rows.length === limit);
    found.push(...page.rows.map(identity));
    remaining.push(found.length + (page.remaining ?? Number.NaN));
    next = page.continue;
  } while (next !== undefined);
  assert.deepEqual(new Set(remaining), new Set([found.length]));
  return found;
}

test('a row comes back as it went in', async () => {
  await fc.assert(
    fc.asyncProperty(arbitrarySource, arbitraryRow, async (source, written) => {
      await using store = await storeOf([{ ...source, ...written }]);
      const { rows } = await store.query({});
      const { labels: _labels, object, ...rest } = written;
      assert.deepEqual(
        rows.map(({ object: bytes, ...read }) => ({ ...read, object: Buffer.from(bytes).toString() })),
        [{ ...source, ...rest, object }],
      );
    }),
    { numRuns: 30 },
  );
});

test('bytes are given back undecoded', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  const bytes = Buffer.from('xx{ "n" : 1.0, "big":12345678901234567890,\n"u":"\\u00fc" }').subarray(2);
  await store.applyChanges(PODS, { upserts: [row('a', { object: bytes })] });
  const { rows } = await store.query({ fields: [{ path: '.u', operator: '=', values: ['ü'] }] });
  assert.deepEqual(Buffer.from(rows[0]?.object ?? []), Buffer.from(bytes));
});

test('pages show each row that stays once and in order, while others come and go', async () => {
  const ofNames = fc.uniqueArray(fc.stringMatching(/^[a-f]{1,3}$/), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      ofNames,
      fc.array(ofNames, { maxLength: 12 }),
      fc.boolean(),
      async (staying, churn, descending) => {
        await using store = await createSqliteStore({ file: ':memory:' });
        await store.applyChanges(PODS, { upserts: staying.map((name) => row(name)) });
        const orderBy = [{ field: 'name', descending }] as const;
        const seen: string[] = [];
        let next: string | undefined;
        do {
          const page = await store.query({ orderBy, limit: 3, continue: next });
          seen.push(...page.rows.map(({ name }) => name));
          next = page.continue;
          const others = (churn.pop() ?? []).filter((name) => !staying.includes(name));
          const there = await store.query({ names: others });
          await store.applyChanges(PODS, {
            upserts: others.map((name) => row(name)),
            deletes: there.rows.map(({ namespace, name }) => ({ namespace, name })),
          });
          // What the page ended with may go as well.
          if (others[0]) await store.applyChanges(PODS, { deletes: [{ namespace: 'n', name: others[0] }] });
        } while (next !== undefined);
        const direction = descending ? -1 : 1;
        assert.deepEqual(
          seen,
          [...new Set(seen)].toSorted((a, b) => (a < b ? -direction : direction)),
        );
        assert.deepEqual(seen.filter((name) => staying.includes(name)).toSorted(), staying.toSorted());
      },
    ),
    { numRuns: 40 },
  );
});

test('a page goes on where the last row was, also when that is gone', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  await store.applyChanges(PODS, { upserts: ['a', 'b', 'c', 'd'].map((name) => row(name)) });
  const first = await store.query({ limit: 2 });
  await store.applyChanges(PODS, { upserts: [row('aa'), row('bb')], deletes: [{ namespace: 'n', name: 'b' }] });
  const second = await store.query({ limit: 9, continue: first.continue });
  assert.deepEqual(
    second.rows.map(({ name }) => name),
    ['bb', 'c', 'd'],
  );
});

test('a search in objects that takes several steps is complete, and lets others in between', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  const rows = Array.from({ length: 2500 }, (_, n) =>
    row(`p${n}`, { object: JSON.stringify({ n, odd: n % 2 === 1 }) }),
  );
  await store.applyChanges(PODS, { upserts: rows });
  const fields: FieldRequirement[] = [{ path: '.odd', operator: '=', values: ['true'] }];
  let turns = 0;
  const turn = (): void => {
    turns++;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  const { rows: found } = await store.query({ fields });
  clearImmediate(timer);
  assert.equal(found.length, 1250);
  assert.ok(turns >= 2, `${turns} turns`);
  assert.equal((await inPages(store, { fields }, 499)).length, 1250);
});

test('a field is compared by what it is', async (t) => {
  const object = {
    n: 10,
    f: 1.5,
    big: 'BIG',
    t: '10',
    yes: true,
    no: null,
    o: { a: 1 },
    l: [{ v: 1 }, { v: 'x' }, 'x', 7, null, [5]],
    e: [],
    annotations: { 'a.b/c': 'd', "it's": 'q' },
    time: '2026-03-01T00:00:00Z',
  };
  await using store = await createSqliteStore({ file: ':memory:' });
  await store.applyChanges(PODS, {
    upserts: [row('a', { object: JSON.stringify(object).replace('"BIG"', '9007199254740993') })],
  });
  const table: [path: string, operator: FieldRequirement['operator'], values: string[], fits: boolean][] = [
    ['.n', '=', ['10'], true],
    ['.n', '=', ['10.0'], true],
    ['.n', '=', ['1e1'], true],
    ['.n', '=', ['ten'], false],
    ['.n', '<', ['9'], false],
    ['.n', '>', ['9'], true],
    ['.n', '>', ['nine'], false],
    ['.f', '>=', ['1.50'], true],
    ['.big', '=', ['9007199254740993'], true],
    ['.big', '=', ['9007199254740992'], false],
    ['.t', '=', ['10'], true],
    ['.t', '=', ['10.0'], false],
    ['.t', '<', ['9'], true],
    ['.yes', '=', ['true'], true],
    ['.yes', '=', ['1'], false],
    ['.yes', '!=', ['false'], true],
    ['.no', 'exists', [], false],
    ['.no', '!=', ['null'], true],
    ['.no', '!exists', [], true],
    ['.o', 'exists', [], true],
    ['.o', '=', ['{"a":1}'], false],
    ['.o', '!=', ['x'], true],
    ['.none.deeper', '!=', ['x'], true],
    ['.none.deeper', 'notin', ['x', 'y'], true],
    ['.none.deeper', '<', ['x'], false],
    ['.l[].v', '=', ['x'], true],
    ['.l[].v', '=', ['1'], true],
    ['.l[].v', '!=', ['x'], false],
    ['.l[].v', 'in', ['y', '1.0'], true],
    ['.l[]', '=', ['7'], true],
    ['.l[][]', '=', ['5'], true],
    ['.l[0].v', '=', ['1'], true],
    ['.l[9].v', '=', ['1'], false],
    ['.l.v', '=', ['1'], false],
    ['.o[]', 'exists', [], false],
    ['.e', 'exists', [], true],
    ['.e[]', '!exists', [], true],
    [".annotations['a.b/c']", '=', ['d'], true],
    [".annotations.'a.b/c'", '=', ['d'], true],
    [".annotations['it\\'s']", '=', ['q'], true],
    ['.annotations.a.b/c', '=', ['d'], false],
    ['.time', '<', ['2026-03-02'], true],
  ];
  for (const [path, operator, values, fits] of table) {
    await t.test(`${path} ${operator} ${values.join(', ')}`, async () => {
      const { rows } = await store.query({ fields: [{ path, operator, values }] });
      assert.equal(rows.length === 1, fits);
    });
  }
});

test('what looks like SQL or a pattern is text', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  const names = ["x'; DROP TABLE object; --", 'a%b', 'a_b', 'aXb', '"', '?', ':x', 'a\\b'];
  await store.applyChanges(PODS, {
    upserts: names.map((name) => row(name, { labels: { [name]: name }, object: JSON.stringify({ [name]: name }) })),
  });
  for (const name of names) {
    const alone = async (query: Query): Promise<void> =>
      assert.deepEqual(
        (await store.query(query)).rows.map((found) => found.name),
        [name],
      );
    await alone({ names: [name] });
    await alone({ names: [name, 'none'] });
    await alone({ nameContains: [name.toUpperCase()] });
    await alone({ labels: [{ key: name, operator: '=', values: [name] }] });
    await alone({ fields: [{ path: [{ key: name }], operator: '=', values: [name] }] });
    await alone({ fields: [{ path: [{ key: name }], operator: 'exists', values: [] }] });
  }
  assert.equal((await store.query({})).rows.length, names.length);
});

test('a token goes on with its own query alone', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  await store.applyChanges(PODS, { upserts: ['a', 'b', 'c'].map((name) => row(name)) });
  const query: Query = { namespaces: ['n'], limit: 1 };
  const { continue: next } = await store.query(query);
  assert.equal((await store.query({ ...query, limit: 2, countRemaining: true, continue: next })).rows.length, 2);
  const wrong: [Query, string | undefined, RegExp][] = [
    [{ ...query, namespaces: ['n', 'm'] }, next, /of another query/],
    [{ ...query, orderBy: [{ field: 'uid' }] }, next, /of another query/],
    [{ limit: 1 }, next, /of another query/],
    [query, 'no token', /not one that was given out/],
    [query, '', /not one that was given out/],
    [query, Buffer.from('{"query":1}').toString('base64url'), /not one that was given out/],
    [query, Buffer.from('null').toString('base64url'), /not one that was given out/],
    [query, forge(next, (token) => ({ ...token, position: [1, 2] })), /of another query/],
    [query, forge(next, (token) => ({ ...token, position: Array(6).fill(null) })), /of another query/],
  ];
  for (const [asked, token, message] of wrong) {
    await assert.rejects(store.query({ ...asked, continue: token }), { code: 'INVALID_CONTINUE', message });
  }
});

function forge(token: string | undefined, change: (parsed: object) => object): string {
  const parsed = JSON.parse(Buffer.from(token ?? '', 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify(change(parsed))).toString('base64url');
}

test('a search in objects, in an order of its own, lets others have their turn', async () => {
  const object = JSON.stringify({ a: 'x'.repeat(2_000), b: 1 });
  await using store = await createSqliteStore({ file: ':memory:' });
  for (let batch = 0; batch < 10; batch++) {
    const upserts = Array.from({ length: 1_000 }, (_, n) => row(`p${batch}-${n}`, { createdAt: n, object }));
    await store.applyChanges(PODS, { upserts });
  }
  const fields = Array.from({ length: 50 }, (_, n) => ({ path: `.f${n}`, operator: '!exists' as const, values: [] }));
  let turns = 0;
  let over = false;
  const others = (async () => {
    for (; !over; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  const { rows } = await store.query({ fields, orderBy: [{ field: 'createdAt', descending: true }], limit: 10 });
  over = true;
  await others;
  assert.deepEqual([...new Set(rows.map(({ createdAt }) => createdAt))], [999]);
  assert.ok(turns > 10, `${turns} turns of others`);
});

test('a search that takes too long is ended with what to do', () => {
  let now = 0;
  const steps = new SearchSteps(() => now);
  const work = (ms: number) => (): void => void (now += ms);
  steps.time(work(1));
  assert.equal(steps.rows, 200);
  steps.time(work(150));
  assert.ok(steps.rows < 20, `${steps.rows} rows in the next step`);
  assert.throws(() => steps.time(work(20_000)), {
    code: 'TOO_COSTLY',
    message: /more than 20000 ms: select by cluster/,
  });
});
