import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Placement, PropagationPolicy } from '../api/index.ts';
import { type PlaceInput, placeTemplate } from './place-template.ts';
import { cluster, deployment } from './testing/build.ts';

type PolicySpec = PropagationPolicy['spec'];

const to = (...clusterNames: string[]): Placement => ({ clusterAffinity: { clusterNames } });

function policy(
  name: string,
  extra: Partial<PolicySpec>,
  creationTimestamp = '2026-01-01T00:00:00Z',
): PropagationPolicy {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'demo', uid: `uid-of-${name}`, creationTimestamp },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], ...extra },
  };
}

function template(
  parts: { generation?: number; replicas?: number; labels?: Record<string, string>; status?: object } = {},
) {
  const { generation = 1, replicas = 2, labels = {}, status = {} } = parts;
  const made = deployment(replicas, { labels });
  return { ...made, metadata: { ...made.metadata, generation, creationTimestamp: '2026-02-01T00:00:00Z' }, status };
}

const clusters = [cluster('ant'), cluster('bee')];

/** Decides one step after the other, each with what the one before said. */
function follow(...steps: Pick<PlaceInput, 'template' | 'policy'>[]) {
  let last: PlaceInput['last'];
  return steps.map((step) => {
    last = placeTemplate({ ...step, parents: [], clusters, last });
    return last;
  });
}

const placed = (spec: ReturnType<typeof placeTemplate> | undefined) => spec?.clusters?.map(({ name }) => name).join();

describe('a Lazy policy', () => {
  const lazy = (placement: Placement, extra: Partial<PolicySpec> = {}) =>
    policy('p', { placement, activationPreference: 'Lazy', ...extra });

  test('places a template that comes after it at once', () => {
    const [first] = follow({ template: template(), policy: lazy(to('ant')) });
    assert.equal(placed(first), 'ant');
    assert.equal(first?.unschedulable, undefined);
  });

  test('waits with a template that is older, and says so, until that changes', () => {
    const young = policy('p', { placement: to('ant'), activationPreference: 'Lazy' }, '2026-03-01T00:00:00Z');
    const [first, second, third] = follow(
      { template: template(), policy: young },
      { template: template({ status: { replicas: 9 } }), policy: young },
      { template: template({ generation: 2 }), policy: young },
    );
    assert.equal(placed(first), '');
    assert.equal(first?.unschedulable?.reason, 'AwaitsTemplate');
    assert.ok(first?.decisions?.every(({ reason, selected }) => reason === 'AwaitsTemplate' && !selected));
    assert.deepEqual(second, first);
    assert.equal(placed(third), 'ant');
    assert.equal(third?.unschedulable, undefined);
  });

  test('that is edited takes effect with the next change of the template, of its labels too', () => {
    const edited = lazy(to('bee'), { conflictResolution: 'Overwrite', propagateDeps: true });
    const [, second, third] = follow(
      { template: template(), policy: lazy(to('ant')) },
      { template: template(), policy: edited },
      { template: template({ labels: { touched: 'yes' } }), policy: edited },
    );
    assert.deepEqual(
      [placed(second), second?.conflictResolution, second?.propagateDeps],
      ['ant', undefined, undefined],
    );
    assert.deepEqual([placed(third), third?.conflictResolution, third?.propagateDeps], ['bee', 'Overwrite', true]);
  });

  test('changes nothing when it takes over from another, until the template changes', () => {
    const eager = policy('first', { placement: to('ant') });
    const [, second, third] = follow(
      { template: template(), policy: eager },
      { template: template(), policy: lazy(to('bee')) },
      { template: template({ generation: 2 }), policy: lazy(to('bee')) },
    );
    assert.deepEqual([placed(second), second?.policy?.name], ['ant', 'p']);
    assert.equal(placed(third), 'bee');
  });

  test('that is Lazy no more takes effect at once', () => {
    const [, second] = follow(
      { template: template(), policy: lazy(to('ant')) },
      { template: template(), policy: policy('p', { placement: to('bee') }) },
    );
    assert.deepEqual([placed(second), second?.templateDigest], ['bee', undefined]);
  });

  test('goes by the content of kinds that have no generation', () => {
    const configMap = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { value },
      metadata: { name: 'conf', namespace: 'demo', uid: 'c', resourceVersion: value },
    });
    const [, second, third] = follow(
      { template: configMap('1'), policy: policy('p', { placement: to('ant'), activationPreference: 'Lazy' }, '') },
      { template: configMap('1'), policy: policy('p', { placement: to('bee'), activationPreference: 'Lazy' }, '') },
      { template: configMap('2'), policy: policy('p', { placement: to('bee'), activationPreference: 'Lazy' }, '') },
    );
    assert.deepEqual([placed(second), placed(third)], ['ant', 'bee']);
  });
});

describe('suspension', () => {
  const held = policy('p', { placement: to('ant'), suspension: { scheduling: true } });

  test('of scheduling places nothing that is new, and says so', () => {
    const [first] = follow({ template: template(), policy: held });
    assert.deepEqual([placed(first), first?.unschedulable?.reason], ['', 'SchedulingSuspended']);
    assert.ok(first?.decisions?.every(({ reason }) => reason === 'SchedulingSuspended'));
    assert.equal(first?.suspension, undefined, 'the word of the binding is for a queue to give');
  });

  test('of scheduling keeps what is placed, whatever the policy says now', () => {
    const [, second, third] = follow(
      { template: template(), policy: policy('p', { placement: to('bee') }) },
      { template: template({ generation: 2, replicas: 5 }), policy: held },
      { template: template({ generation: 2, replicas: 5 }), policy: policy('p', { placement: to('ant') }) },
    );
    assert.deepEqual([placed(second), second?.clusters?.[0]?.replicas], ['bee', 2]);
    assert.equal(second?.decisions?.find(({ cluster: name }) => name === 'bee')?.reason, 'Kept');
    assert.deepEqual([placed(third), third?.clusters?.[0]?.replicas, third?.unschedulable], ['ant', 5, undefined]);
  });

  test('of scheduling is released, and imposed, by the word of one binding', () => {
    const input = { template: template(), policy: held, parents: [], clusters };
    const waiting = placeTemplate({ ...input, last: undefined });
    const released = placeTemplate({ ...input, last: { ...waiting, suspension: { scheduling: false } } });
    assert.deepEqual([placed(released), released.suspension], ['ant', { scheduling: false }]);
    const free = { ...input, policy: policy('p', { placement: to('bee') }) };
    const imposed = placeTemplate({ ...free, last: { ...released, suspension: { scheduling: true } } });
    assert.deepEqual([placed(imposed), imposed.suspension], ['ant', { scheduling: true }]);
  });

  test('of dispatching is what the policy says now, also where it is Lazy, and decides nothing', () => {
    const suspension = { dispatching: true, dispatchingOnClusters: { clusterNames: ['bee'] } };
    const lazy = (extra: Partial<PolicySpec>, place: Placement) =>
      policy('p', { placement: place, activationPreference: 'Lazy', ...extra });
    const [, second, third, fourth] = follow(
      { template: template(), policy: lazy({}, to('ant')) },
      { template: template(), policy: lazy({ suspension }, to('bee')) },
      { template: template({ generation: 2 }), policy: lazy({ suspension }, to('bee')) },
      { template: template({ generation: 2 }), policy: lazy({}, to('bee')) },
    );
    assert.deepEqual([placed(second), second?.suspension], ['ant', suspension]);
    assert.deepEqual([placed(third), third?.suspension, third?.unschedulable], ['bee', suspension, undefined]);
    assert.deepEqual([placed(fourth), fourth?.suspension], ['bee', undefined]);
  });
});
