import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { STATEFUL_SETS, type StatefulSet } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { Fleet } from './testing/fleet.ts';

const ref = { namespace: 'demo', name: 'web' };

test('a status of which the templates’ API server keeps only a part is written once', async () => {
  await using fleet = await Fleet.start(
    { ant: { serves: ['apps/v1/StatefulSet'] } },
    { templatesElsewhere: true, templatesLack: 'availableReplicas' },
  );
  const { hub, templates } = fleet;
  await fleet.run();
  await hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'all' },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'StatefulSet' }] },
  });
  const spec = { ...(deployment(2)['spec'] as StatefulSet['spec'] & object), serviceName: 'web' };
  await templates.resource(STATEFUL_SETS).create({ metadata: ref, spec });
  await untilObject(fleet.member('ant'), STATEFUL_SETS, ref, (object) => object !== undefined);
  /** The binding tells which generation the member has observed; the template's status tells of its own. */
  const report = async (readyReplicas: number, observedGeneration: number): Promise<void> => {
    const counters = { replicas: 2, readyReplicas, availableReplicas: readyReplicas };
    const body = [{ op: 'add', path: '/status', value: { observedGeneration, ...counters } }];
    await fleet.member('ant').resource(STATEFUL_SETS).patch(ref, { type: 'json', body }, { subresource: 'status' });
    await untilObject(hub, RESOURCE_BINDINGS, { ...ref, name: 'web-statefulset' }, (binding) =>
      (binding?.status?.aggregatedStatus ?? []).some(
        ({ status }) => status?.['observedGeneration'] === observedGeneration,
      ),
    );
  };
  await report(1, 1);
  const told = await untilObject(templates, STATEFUL_SETS, ref, (object) => object?.status?.readyReplicas === 1);
  assert.equal(told?.status?.availableReplicas ?? 0, 0);
  fleet.writes.length = 0;
  await report(1, 2);
  await report(1, 3);
  await report(2, 4);
  await untilObject(templates, STATEFUL_SETS, ref, (object) => object?.status?.readyReplicas === 2);
  assert.deepEqual(
    fleet.writes.filter((write) => write.startsWith('templates ')),
    ['templates PATCH /apis/apps/v1/namespaces/demo/statefulsets/web/status'],
  );
});
