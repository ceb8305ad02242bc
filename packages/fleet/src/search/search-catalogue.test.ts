import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { discoveryDocument } from './query/discovery-document.ts';
import { searchWarnings } from './query/search-warnings.ts';
import { type SearchableResource, SearchCatalogue } from './search-catalogue.ts';
import { describeStored } from './sync/describe-stored.ts';

function resource(group: string, version: string, name: string): SearchableResource {
  const names = { kind: name, singular: name, shortNames: [], categories: [] };
  return { group, version, resource: name, namespaced: true, ...names };
}

const WIDGETS = resource('example.com', 'v1', 'widgets');
const PODS = resource('', 'v1', 'pods');

function catalogueOf(clusters: Record<string, SearchableResource[]>, followed: string[] = Object.keys(clusters)) {
  const catalogue = new SearchCatalogue();
  for (const [name, indexed] of Object.entries(clusters)) {
    catalogue.set(name, { indexed, isFollowed: () => followed.includes(name) });
  }
  return catalogue;
}

describe('the catalogue', () => {
  test('describes what any cluster indexes, and what is built in', () => {
    const catalogue = catalogueOf({ b: [PODS, WIDGETS], a: [PODS] });
    assert.deepEqual(catalogue.clusters(), ['a', 'b']);
    assert.deepEqual(
      catalogue.resources().map((each) => each.resource),
      ['pods', 'widgets'],
    );
    assert.equal(catalogue.describe(WIDGETS)?.kind, 'widgets');
    assert.equal(catalogue.describe({ group: 'apps', version: 'v1', resource: 'deployments' })?.kind, 'Deployment');
    assert.equal(catalogue.describe({ ...WIDGETS, version: 'v2' }), undefined);
  });

  test('has the columns of the first cluster whose columns can be read', () => {
    const catalogue = catalogueOf({ c: [WIDGETS] });
    const columns = (jsonPath: string) => () => [{ name: jsonPath, type: 'string', jsonPath }];
    const names = () => catalogue.printerFor(WIDGETS).columns.map(({ name }) => name);
    assert.deepEqual(names(), ['Name', 'Created At']);
    catalogue.set('b', { indexed: [WIDGETS], columns: columns('.spec.b'), isFollowed: () => true });
    assert.deepEqual(names(), ['Name', '.spec.b']);
    catalogue.set('a', { indexed: [WIDGETS], columns: columns('.spec['), isFollowed: () => true });
    assert.deepEqual(names(), ['Name', '.spec.b']);
    catalogue.set('a', { indexed: [WIDGETS], columns: columns('.spec.a'), isFollowed: () => true });
    assert.deepEqual(names(), ['Name', '.spec.a']);
  });
});

describe('what an answer lacks', () => {
  const catalogue = catalogueOf({ a: [PODS], b: [PODS, WIDGETS], c: [] }, ['a', 'c']);
  const all = { leftOut: 0 };
  const table: [name: string, warnings: string[], expected: string[]][] = [
    [
      'some cluster indexes it: only the old is told',
      searchWarnings(catalogue, WIDGETS, { asked: undefined, granted: all }),
      ['what is shown of b may be old: not followed at the moment'],
    ],
    [
      'asked for by name: whoever does not index it is told',
      searchWarnings(catalogue, WIDGETS, { asked: ['a', 'c'], granted: { clusters: ['a', 'c'], leftOut: 0 } }),
      ['widgets.example.com in v1 are not indexed of a, c'],
    ],
    [
      'nobody indexes it',
      searchWarnings(catalogue, { ...WIDGETS, version: 'v2' }, { asked: undefined, granted: all }),
      ['widgets.example.com in v2 are not indexed of a, b, c'],
    ],
    [
      'there is no cluster',
      searchWarnings(new SearchCatalogue(), PODS, { asked: undefined, granted: all }),
      ['pods in v1 are not indexed of any cluster'],
    ],
    [
      'clusters that may not be searched are counted, not named',
      searchWarnings(catalogue, PODS, { asked: undefined, granted: { clusters: ['a'], leftOut: 2 } }),
      ['2 clusters were left out: you may not search them'],
    ],
  ];
  for (const [name, warnings, expected] of table) {
    test(name, () =>
      assert.deepEqual(
        warnings,
        expected.map((text) => `299 - "search: ${text}"`),
      ),
    );
  }

  test('of many clusters ten are named', () => {
    const many = catalogueOf(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`c${10 + i}`, [PODS]])), []);
    const [warning] = searchWarnings(many, PODS, { asked: undefined, granted: all });
    assert.match(warning ?? '', /of c10, .*c19 and 2 more may be old/);
  });
});

test('discovery: groups and versions, the most stable and newest first', () => {
  const versions = ['v1alpha1', 'v1', 'other', 'v2beta1', 'v10', 'v2'];
  const resources = [...versions.map((version) => resource('example.com', version, 'widgets')), PODS];
  assert.deepEqual(discoveryDocument({ about: 'discovery', root: 'apis' }, resources), {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [
      {
        name: 'example.com',
        versions: ['v10', 'v2', 'v1', 'v2beta1', 'v1alpha1', 'other'].map((version) => ({
          groupVersion: `example.com/${version}`,
          version,
        })),
        preferredVersion: { groupVersion: 'example.com/v10', version: 'v10' },
      },
    ],
  });
});

test('stored sources of a cluster that cannot be asked: what is built in, and what its status tells', () => {
  const sources = [PODS, WIDGETS, { ...WIDGETS, resource: 'gadgets' }].map(({ group, version, resource: name }) => ({
    cluster: 'a',
    group,
    version,
    resource: name,
  }));
  const apis = [
    { groupVersion: 'example.com/v1', resources: [{ name: 'widgets', kind: 'Widget', namespaced: false }] },
  ];
  const described = describeStored(sources, apis).map(({ resource: name, kind, namespaced }) => [
    name,
    kind,
    namespaced,
  ]);
  assert.deepEqual(described, [
    ['pods', 'Pod', true],
    ['widgets', 'Widget', false],
  ]);
});
