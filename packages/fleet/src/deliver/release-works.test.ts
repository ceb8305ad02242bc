import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, clusterNamespace, type Work, WORKS } from '../api/index.ts';
import { Fleet } from './testing/fleet.ts';

const NAMES = ['one', 'two', 'three'];
const workOf = (name: string) => ({ namespace: clusterNamespace('bee'), name: `demo.${name}-configmap` });

test('Works of an agent that are done with are let go of at the same time, not one after the other', async () => {
  await using fleet = await Fleet.start({ bee: { syncMode: 'Pull' } });
  await fleet.run();
  for (const name of NAMES) await fleet.hub.resource(CONFIG_MAPS).create({ metadata: { namespace: 'demo', name } });
  await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'all' },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }], placement: {} },
  });
  const isApplied = (work: Work | undefined) => work?.status?.manifestStatuses?.[0]?.applied === true;
  for (const name of NAMES) await untilObject<Work>(fleet.hub, WORKS, workOf(name), isApplied);
  const releases = new Set<string>();
  const { promise: all, resolve } = Promise.withResolvers<void>();
  // None of them comes to its end before all have begun.
  fleet.before = async (write) => {
    if (!/^hub PATCH .*\/works\/[^/]+$/.test(write)) return;
    if (releases.add(write).size === NAMES.length) resolve();
    await all;
  };
  await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).delete({ name: 'all' });
  for (const name of NAMES) await untilObject<Work>(fleet.hub, WORKS, workOf(name), (work) => work === undefined);
});
