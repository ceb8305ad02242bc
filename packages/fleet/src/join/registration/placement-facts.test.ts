import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formatFacts,
  mergeFacts,
  type PlacementFacts,
  placementFactsFault,
  refusedFacts,
  ruleFacts,
  tokenFacts,
  tokenFactsGroups,
} from './placement-facts.ts';

/** What kube-apiserver accepts in `auth-extra-groups` of a bootstrap token. */
const TOKEN_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

describe('the facts that a token carries', () => {
  const carried: [name: string, facts: PlacementFacts][] = [
    ['none', {}],
    ['a label', { labels: { tier: 'production' } }],
    ['a label with a prefix and capitals', { labels: { 'example.com/Team_A': 'Blue.1' } }],
    ['all of them', { labels: { a: 'b', c: '' }, provider: 'Own Metal', region: 'eu-central', zones: ['a', 'b'] }],
    ['text beyond ASCII', { region: 'Zürich 山' }],
    ['many labels', { labels: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key-${i}`, `value-${i}`])) }],
  ];
  for (const [name, facts] of carried) {
    test(`${name}: come back from groups that Kubernetes accepts, in any order`, () => {
      const groups = tokenFactsGroups(facts);
      for (const group of groups) assert.match(group, TOKEN_GROUP);
      assert.deepEqual(tokenFacts(['system:bootstrappers', ...groups.toReversed()]), facts);
    });
  }

  test('are refused where they are longer than a token may carry', () => {
    assert.throws(() => tokenFactsGroups({ region: 'x'.repeat(1100) }), RangeError);
  });

  const none: [name: string, groups: string[]][] = [
    ['no facts', ['system:bootstrappers:asterism:register']],
    ['no hex', ['system:bootstrappers:asterism:facts:0:zz']],
    ['a piece that is missing', tokenFactsGroups({ region: 'r'.repeat(200) }).slice(1)],
    ['a reserved label', tokenFactsGroups({ labels: { 'asterism.dev/x': 'y' } })],
    ['a label that no Kubernetes accepts', tokenFactsGroups({ labels: { 'a b': 'c' } })],
  ];
  for (const [name, groups] of none) test(`${name}: gives nothing`, () => assert.deepEqual(tokenFacts(groups), {}));
});

describe('the facts that a rule gives', () => {
  const asked = { labels: { tier: 'production', team: 'blue' }, provider: 'own', region: 'eu-1', zones: ['a', 'b'] };
  const rule = { name: 'r', tokenGroups: ['g'] };
  const rows: [name: string, more: object, given: PlacementFacts][] = [
    ['nothing, if it says nothing', {}, {}],
    ['the labels that it matches', { labels: { tier: 'production' } }, { labels: { tier: 'production' } }],
    ['a label that it allows by key', { allowLabels: ['te*'] }, { labels: { team: 'blue' } }],
    ['a label that it allows by value', { allowLabels: ['tier=prod*'] }, { labels: { tier: 'production' } }],
    ['no label with another value', { allowLabels: ['tier=staging'] }, {}],
    [
      'what it allows of region, provider and zones',
      { allowRegions: ['eu-*'], allowProviders: ['own'], allowZones: ['b'] },
      { region: 'eu-1', provider: 'own', zones: ['b'] },
    ],
    ['no other region', { allowRegions: ['us-*'] }, {}],
    [
      'what it sets before what it allows',
      { allowLabels: ['*'], setLabels: { tier: 'edge' }, setRegion: 'x', allowRegions: ['*'] },
      { labels: { tier: 'edge', team: 'blue' }, region: 'x' },
    ],
  ];
  for (const [name, more, given] of rows) {
    test(name, () => assert.deepEqual(ruleFacts({ ...rule, ...more }, asked), given));
  }

  test('none that no Cluster can have', () => {
    assert.deepEqual(ruleFacts({ ...rule, allowLabels: ['*'] }, { labels: { 'a b': 'c' } }), {});
  });
});

describe('placement facts', () => {
  const faults: [name: string, facts: PlacementFacts, fault: RegExp | undefined][] = [
    ['nothing', {}, undefined],
    ['sound ones', { labels: { a: 'b' }, region: 'r', zones: ['z'] }, undefined],
    ['a reserved label', { labels: { 'asterism.dev/a': 'b' } }, /reserved/],
    ['a label with a bad key', { labels: { 'a b': 'c' } }, /labels/],
    ['an empty region', { region: '' }, /region/],
    ['a long provider', { provider: 'p'.repeat(254) }, /provider/],
    ['many zones', { zones: Array.from({ length: 65 }, (_, i) => `z${i}`) }, /zones/],
  ];
  for (const [name, facts, fault] of faults) {
    test(`${name}: ${fault === undefined ? 'can be given' : 'cannot be given'}`, () => {
      if (fault) assert.match(placementFactsFault(facts) ?? '', fault);
      else assert.equal(placementFactsFault(facts), undefined);
    });
  }

  test('the later takes precedence, and labels are merged', () => {
    const merged = mergeFacts({ labels: { a: '1', b: '1' }, region: 'x' }, { labels: { b: '2' }, provider: 'p' }, {});
    assert.deepEqual(merged, { labels: { a: '1', b: '2' }, region: 'x', provider: 'p' });
  });

  test('those that were asked for and not given are named', () => {
    const asked = { labels: { tier: 'gold', team: 'blue' }, region: 'eu', provider: 'own', zones: ['a', 'b'] };
    const given = { labels: { tier: 'edge', team: 'blue' }, region: 'eu', zones: ['b'] };
    const refused = refusedFacts(asked, given);
    assert.deepEqual(refused, { labels: { tier: 'gold' }, provider: 'own', zones: ['a'] });
    assert.equal(formatFacts(refused ?? {}), 'label tier=gold, provider own, zone a');
    assert.equal(refusedFacts(asked, asked), undefined);
  });
});
