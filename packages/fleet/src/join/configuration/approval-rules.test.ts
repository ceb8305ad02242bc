import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { HubConfiguration } from '../../api/index.ts';
import { type ApprovalRule, matchesPattern, matchingRule, readApprovalRules } from './approval-rules.ts';

const STORES = 'system:bootstrappers:stores';
const rule: ApprovalRule = { name: 'stores', tokenGroups: [STORES] };

function configuration(...approvalRules: ApprovalRule[]): HubConfiguration {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'HubConfiguration',
    metadata: { name: 'hub' },
    spec: { approvalRules },
  };
}

describe('a pattern', () => {
  const rows: [pattern: string, text: string, expected: boolean][] = [
    ['store-*', 'store-12', true],
    ['store-*', 'store-', true],
    ['store-*', 'a-store-1', false],
    ['store-*', 'store', false],
    ['*', 'anything', true],
    ['store-1', 'store-1', true],
    ['store-1', 'store-12', false],
    ['store-?', 'store-1', true],
    ['store-?', 'store-12', false],
    ['store-?', 'store-', false],
    ['*-eu-*', 'a-eu-b-eu-c', true],
    ['*eu', 'eu-eu', true],
    ['a*b*c', 'a-b-b-d', false],
  ];
  for (const [pattern, text, expected] of rows) {
    test(`${pattern} ${expected ? 'fits' : 'does not fit'} ${text}`, () => {
      assert.equal(matchesPattern(pattern, text), expected);
    });
  }

  test('fits what the same regular expression fits', () => {
    const letters = (...set: string[]) => fc.string({ unit: fc.constantFrom(...set), maxLength: 8 });
    fc.assert(
      fc.property(letters('a', 'b', '*', '?'), letters('a', 'b'), (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
        assert.equal(matchesPattern(pattern, text), expression.test(text));
      }),
      { numRuns: 500 },
    );
  });

  test('of many stars takes no long time', () => {
    const began = performance.now();
    assert.equal(matchesPattern(`${'*a'.repeat(31)}b`, 'a'.repeat(46)), false);
    assert.ok(performance.now() - began < 50);
  });
});

describe('a rule', () => {
  const rows: [name: string, rule: Partial<ApprovalRule>, asks: Parameters<typeof matchingRule>[1], fits: boolean][] = [
    ['of the token’s group', {}, { clusterName: 'a' }, true],
    ['of another group', { tokenGroups: ['system:bootstrappers:other'] }, { clusterName: 'a' }, false],
    ['of one of several groups', { tokenGroups: ['system:bootstrappers:x', STORES] }, { clusterName: 'a' }, true],
    ['with the name', { namePattern: 'store-*' }, { clusterName: 'store-1' }, true],
    ['with another name', { namePattern: 'store-*' }, { clusterName: 'bank-1' }, false],
    ['with the label', { labels: { tier: 'edge' } }, { clusterName: 'a', labels: { tier: 'edge', x: 'y' } }, true],
    ['with another value', { labels: { tier: 'edge' } }, { clusterName: 'a', labels: { tier: 'core' } }, false],
    ['without the label', { labels: { tier: 'edge' } }, { clusterName: 'a' }, false],
    ['with a label that every object has', { labels: { toString: 'x' } }, { clusterName: 'a' }, false],
    ['with the name, not the label', { namePattern: 'a', labels: { tier: 'edge' } }, { clusterName: 'a' }, false],
  ];
  for (const [name, change, asks, fits] of rows) {
    test(`${name} ${fits ? 'lets in' : 'does not'}`, () => {
      const found = matchingRule([{ ...rule, ...change }], asks, [STORES, 'system:authenticated']);
      assert.equal(found?.name, fits ? 'stores' : undefined);
    });
  }

  test('that comes first decides', () => {
    const second = { ...rule, name: 'second' };
    assert.equal(matchingRule([rule, second], { clusterName: 'a' }, [STORES])?.name, 'stores');
    assert.equal(matchingRule([second, rule], { clusterName: 'a' }, [STORES])?.name, 'second');
  });
});

describe('what is wrong with rules', () => {
  const rows: [name: string, change: Partial<ApprovalRule>, says: RegExp][] = [
    ['a label that is the hub’s', { setLabels: { 'asterism.dev/cluster': 'x' } }, /rule stores: setLabels: asterism/],
    [
      'a label that nobody may ask for',
      { labels: { 'x.asterism.dev/a': 'b' } },
      /rule stores: labels: no registration/,
    ],
    ['a label value that is none', { setLabels: { tier: '-x' } }, /rule stores: setLabels: /],
    ['a label key that is none', { setLabels: { 'a/b/c': 'x' } }, /rule stores: setLabels: /],
  ];
  for (const [name, change, says] of rows) {
    test(`is told, and nobody comes in by it: ${name}`, () => {
      const { rules, faults } = readApprovalRules(configuration({ ...rule, ...change }, { ...rule, name: 'sound' }));
      assert.match(faults.join(), says);
      assert.deepEqual(
        rules.map((each) => each.name),
        ['sound'],
      );
    });
  }

  test('no configuration is no rule', () => {
    assert.deepEqual(readApprovalRules(undefined), { rules: [], faults: [] });
  });
});
