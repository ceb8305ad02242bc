import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { isStatusError, NAMESPACES } from '@asterism/machinery';
import {
  customResourceDefinitions,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  type ResourceSelector,
} from '../api/index.ts';
import { POLICY_CHECKS } from './policy-checks.ts';

const selecting = (selector: Partial<ResourceSelector>) => [{ apiVersion: 'v1', kind: 'Secret', ...selector }];
const policy = (name: string, selector: Partial<ResourceSelector>): PropagationPolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name, namespace: 'demo' },
  spec: { resourceSelectors: selecting(selector) },
});

async function server(checks = POLICY_CHECKS) {
  const started = await startTestServer({ crds: await customResourceDefinitions(), checks });
  await started.client.resource(NAMESPACES).create({ metadata: { name: 'demo' } });
  return started;
}

/** The fields that a refusal is about. */
const refusedFor = (fields: RegExp) => (error: unknown) => {
  assert.ok(isStatusError(error) && error.code === 422, String(error));
  const named = (error.status.details?.causes ?? []).map(({ field }) => field).join();
  assert.match(named, fields);
  return true;
};

describe('a policy that can select nothing', () => {
  test('is refused, with the field and the reason', async () => {
    await using hub = await server();
    const policies = hub.client.resource(PROPAGATION_POLICIES);
    const elsewhere = policies.create(policy('elsewhere', { namespace: 'prod' }));
    await assert.rejects(elsewhere, refusedFor(/^spec\.resourceSelectors\[0\]\.namespace$/));
    await assert.rejects(elsewhere, /"elsewhere" is invalid: .*Invalid value: "prod": .* say "demo"/);
    const unreadable = policies.create(policy('unreadable', { labelSelector: { matchLabels: { 'a b': 'c' } } }));
    await assert.rejects(unreadable, refusedFor(/^spec\.resourceSelectors\[0\]\.labelSelector$/));
    await policies.create(policy('fine', { namespace: 'demo' }));
    const body = { spec: { resourceSelectors: selecting({ namespace: 'prod' }) } };
    const edited = policies.patch({ namespace: 'demo', name: 'fine' }, { type: 'merge', body });
    await assert.rejects(edited, refusedFor(/namespace$/));
    const override = hub.client.resource(OVERRIDE_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'OverridePolicy',
      metadata: { name: 'elsewhere', namespace: 'demo' },
      spec: { resourceSelectors: selecting({ namespace: 'prod' }), overrideRules: [{ overriders: {} }] },
    });
    await assert.rejects(override, refusedFor(/namespace$/));
  });

  test('may be changed in all else where it stands already', async () => {
    let passes = true;
    const later = POLICY_CHECKS.map(({ faults, ...check }): (typeof POLICY_CHECKS)[number] => ({
      ...check,
      faults: (each) => (passes ? [] : faults(each)),
    }));
    await using hub = await server(later);
    const policies = hub.client.resource(PROPAGATION_POLICIES);
    const ref = { namespace: 'demo', name: 'elsewhere' };
    await policies.create(policy('elsewhere', { namespace: 'prod' }));
    passes = false;
    await policies.patch(ref, { type: 'merge', body: { spec: { priority: 3 } } });
    const body = { spec: { resourceSelectors: selecting({ namespace: 'test' }) } };
    await assert.rejects(policies.patch(ref, { type: 'merge', body }), refusedFor(/namespace$/));
    await policies.delete(ref);
  });

  const rows: { name: string; labelSelector: NonNullable<ResourceSelector['labelSelector']>; field: RegExp }[] = [
    { name: 'a value', labelSelector: { matchLabels: { a: 'b c' } }, field: /matchLabels\.a$/ },
    {
      name: 'a key',
      labelSelector: { matchExpressions: [{ key: 'a b', operator: 'Exists' }] },
      field: /matchExpressions\[0\]\.key$/,
    },
    {
      name: 'a value in a list',
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['x'.repeat(64)] }] },
      field: /matchExpressions\[0\]\.values\[0\]$/,
    },
    {
      name: 'no value to be in',
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
      field: /matchExpressions\[0\]/,
    },
    {
      name: 'a value that is not looked at',
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      field: /matchExpressions\[0\]/,
    },
  ];
  test('is refused by its schema alone, on any API server, but for keys of matchLabels', async (t) => {
    await using hub = await server([]);
    const policies = hub.client.resource(PROPAGATION_POLICIES);
    for (const { name, labelSelector, field } of rows) {
      await t.test(name, () => assert.rejects(policies.create(policy('p', { labelSelector })), refusedFor(field)));
    }
    const labelSelector = {
      matchLabels: { 'example.com/tier': 'gold', empty: '' },
      matchExpressions: [
        { key: 'a', operator: 'NotIn' as const, values: ['b', 'C.d_e-f'] },
        { key: 'example.com/b', operator: 'DoesNotExist' as const },
        { key: 'c', operator: 'Exists' as const, values: [] },
      ],
    };
    await policies.create(policy('fine', { labelSelector }));
  });
});
