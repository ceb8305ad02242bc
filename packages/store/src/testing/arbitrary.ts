import fc from 'fast-check';
import type { FieldRequirement, LabelRequirement, OrderField, Query } from '../query/query.ts';
import type { ObjectRow, Source } from '../row.ts';

/** Few of everything, so that conditions meet rows; and each of a kind that quoting or comparing could get wrong. */
const NAMES = ['a', 'A', 'b', 'a_b', 'a%b', "a'b", 'ab"', 'a\\b', 'ü', '😀', 'z-1', '10', '9'];
const SCALARS = [
  'x',
  'X',
  '',
  'true',
  'false',
  '10',
  '10.0',
  '9',
  '-1',
  '1e1',
  '010',
  "'",
  '"',
  'null',
  '2026-01-02',
  'ü',
  '\\',
  '%',
];
const KEYS = ['a', 'b', 'a.b/c', 'a"b', 'a\\b', "it's", '', 'ü', '$', '[0]', '__proto__'];

export const arbitrarySource: fc.Arbitrary<Source> = fc.record({
  cluster: fc.constantFrom('c1', 'c2', 'C1'),
  group: fc.constantFrom('', 'apps'),
  version: fc.constantFrom('v1', 'v2'),
  resource: fc.constantFrom('pods', 'nodes'),
});

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...SCALARS) },
    { weight: 3, arbitrary: fc.constantFrom(10, 9, -1, 0, 1.5, 1e21, true, false, null) },
    { weight: 2, arbitrary: fc.array(tie('any'), { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.dictionary(fc.constantFrom(...KEYS), tie('any'), { maxKeys: 3 }) },
  ),
})).any;

const object = fc.dictionary(fc.constantFrom(...KEYS), value, { minKeys: 1, maxKeys: 4, noNullPrototype: true });

const labels = fc.dictionary(
  fc.constantFrom('app', 'tier', 'a.b/c'),
  fc.constantFrom('x', 'y', '', '9', '10', '-3', '1x'),
  {
    noNullPrototype: true,
  },
);

export const arbitraryRow: fc.Arbitrary<ObjectRow> = fc.record({
  namespace: fc.constantFrom('', 'n1', 'n2'),
  name: fc.constantFrom(...NAMES),
  kind: fc.constantFrom('Pod', 'Node'),
  uid: fc.constantFrom('u1', 'u2', 'u3'),
  resourceVersion: fc.constantFrom('9', '10', '11', '100', 'x'),
  ownerUid: fc.constantFrom('o1', 'o2', undefined),
  createdAt: fc.integer({ min: 0, max: 4 }),
  labels,
  object: object.map((parsed) => JSON.stringify(parsed)),
});

const labelRequirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key: fc.constantFrom('app', 'tier', 'a.b/c', 'none'),
    operator: fc.constantFrom('=', '!='),
    values: fc.tuple(fc.constantFrom('x', 'y', '', '9')),
  }),
  fc.record({
    key: fc.constantFrom('app', 'tier'),
    operator: fc.constantFrom('in', 'notin'),
    values: fc.array(fc.constantFrom('x', 'y', '', '9'), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key: fc.constantFrom('app', 'tier', 'none'),
    operator: fc.constantFrom('exists', '!exists'),
    values: fc.constant([]),
  }),
  fc.record({
    key: fc.constantFrom('app', 'tier'),
    operator: fc.constantFrom('gt', 'lt'),
    values: fc.tuple(fc.constantFrom('9', '0', '-4', '10')),
  }),
);

const path = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ key: fc.constantFrom(...KEYS) }) },
    { weight: 2, arbitrary: fc.constant({ each: true as const }) },
    { weight: 1, arbitrary: fc.record({ index: fc.integer({ min: 0, max: 2 }) }) },
  ),
  { minLength: 1, maxLength: 4 },
);

const fieldRequirement: fc.Arbitrary<FieldRequirement> = fc.oneof(
  fc.record({
    path,
    operator: fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
    values: fc.tuple(fc.constantFrom(...SCALARS)),
  }),
  fc.record({
    path,
    operator: fc.constantFrom('in', 'notin'),
    values: fc.array(fc.constantFrom(...SCALARS), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ path, operator: fc.constantFrom('exists', '!exists'), values: fc.constant([]) }),
);

const ORDER_FIELDS: OrderField[] = [
  'cluster',
  'namespace',
  'name',
  'group',
  'version',
  'resource',
  'kind',
  'uid',
  'createdAt',
  'resourceVersion',
];

const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> => fc.array(arbitrary, { maxLength });

/** Without limit and continue. Any condition may be there, and most often is not. */
export const arbitraryQuery: fc.Arbitrary<Query> = fc.record(
  {
    clusters: rarely(some(fc.constantFrom('c1', 'c2', 'c3'))),
    resources: rarely(
      some(
        fc.record({
          group: fc.constantFrom('', 'apps'),
          version: fc.constantFrom('v1', 'v2', undefined),
          resource: fc.constantFrom('pods', 'nodes', undefined),
        }),
      ),
    ),
    namespaces: rarely(some(fc.constantFrom('', 'n1', 'n3'))),
    names: rarely(some(fc.constantFrom(...NAMES, 'none'))),
    nameContains: rarely(some(fc.constantFrom('a', 'B', '_', '%', "'", '\\', ''), 2)),
    uids: rarely(some(fc.constantFrom('u1', 'u2', 'u4'))),
    ownerUids: rarely(some(fc.constantFrom('o1', 'o2', 'o3'))),
    labels: rarely(some(labelRequirement, 2)),
    fields: fc.option(some(fieldRequirement, 2), { nil: undefined }),
    since: rarely(fc.integer({ min: 0, max: 5 })),
    before: rarely(fc.integer({ min: 0, max: 5 })),
    orderBy: fc.option(
      fc.uniqueArray(fc.record({ field: fc.constantFrom(...ORDER_FIELDS), descending: fc.boolean() }), {
        maxLength: 3,
        selector: ({ field }) => field,
      }),
      { nil: undefined },
    ),
  },
  { requiredKeys: [] },
);

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}
