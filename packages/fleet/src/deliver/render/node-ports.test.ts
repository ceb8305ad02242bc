import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Service, SERVICES } from '@asterism/machinery';
import { PROPAGATION_POLICIES, type Work, WORKS, clusterNamespace } from '../../api/index.ts';
import { Fleet } from '../testing/fleet.ts';

const OPEN = { namespace: 'demo', name: 'open' };
const WORK = { namespace: clusterNamespace('ant'), name: 'demo.open-service' };

const service = (
  ports: { port: number; nodePort?: number }[],
  type: 'NodePort' | 'LoadBalancer' = 'NodePort',
): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: OPEN,
  spec: { type, ports: ports.map((port) => ({ name: `p${port.port}`, ...port })) },
});
const handed = (work: Work | undefined) => (work?.spec.manifests[0] as Service | undefined)?.spec?.ports ?? [];
const nodePorts = (ports: { nodePort?: number }[] = []) => ports.map(({ nodePort }) => nodePort);

async function placed(): Promise<Fleet> {
  const fleet = await Fleet.start({ ant: {} });
  await fleet.run();
  const resourceSelectors = [{ apiVersion: 'v1', kind: 'Service' }];
  await fleet.hub.resource(PROPAGATION_POLICIES).create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { namespace: 'demo', name: 'open' },
    spec: { resourceSelectors, placement: {} },
  });
  return fleet;
}

test('a node port that the hub has allocated is each member’s own to choose; one that somebody named is the same everywhere', async () => {
  await using fleet = await placed();
  const hub = fleet.hub.resource(SERVICES);
  await hub.create(service([{ port: 80 }, { port: 81, nodePort: 31_081 }]));
  const work = await untilObject(fleet.hub, WORKS, WORK, (object) => handed(object).length === 2);
  assert.deepEqual(nodePorts(handed(work)), [undefined, 31_081]);
  const live = await untilObject(fleet.member('ant'), SERVICES, OPEN, (object) => object?.spec?.ports?.length === 2);
  const [chosen, named] = nodePorts(live?.spec?.ports);
  assert.ok(chosen);
  assert.equal(named, 31_081);
  await hub.apply(service([{ port: 80, nodePort: 31_080 }, { port: 81 }]), { fieldManager: 'later', force: true });
  await untilObject(fleet.member('ant'), SERVICES, OPEN, (object) => object?.spec?.ports?.[0]?.nodePort === 31_080);
  assert.deepEqual(nodePorts(handed(await fleet.hub.resource(WORKS).get(WORK))), [31_080, 31_081]);
});

test('who names the node port that the hub has chosen changes nothing there, and is heard; of a status nothing is asked', async () => {
  await using fleet = await placed();
  const hub = fleet.hub.resource(SERVICES);
  const [chosen = 0] = nodePorts((await hub.create(service([{ port: 80 }], 'LoadBalancer'))).spec?.ports);
  const work = await untilObject(fleet.hub, WORKS, WORK, (object) => handed(object).length === 1);
  assert.deepEqual(nodePorts(handed(work)), [undefined]);
  await untilObject(fleet.member('ant'), SERVICES, OPEN, (object) => object !== undefined);
  fleet.reads.length = 0;
  const body = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } };
  await fleet.member('ant').resource(SERVICES).patch(OPEN, { type: 'merge', body }, { subresource: 'status' });
  await untilObject(fleet.hub, SERVICES, OPEN, (object) => object?.status?.loadBalancer?.ingress?.length === 1);
  await hub.apply(service([{ port: 80, nodePort: chosen }], 'LoadBalancer'), { fieldManager: 'later', force: true });
  const told = await untilObject(fleet.hub, WORKS, WORK, (object) => handed(object)[0]?.nodePort !== undefined);
  assert.deepEqual(nodePorts(handed(told)), [chosen]);
  const asked = fleet.reads.filter((read) => read.startsWith('hub GET') && read.includes('services/open'));
  assert.ok(asked.length <= 2, `by works and status at most, for the one change: ${asked.join('; ')}`);
});
