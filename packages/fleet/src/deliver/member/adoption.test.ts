import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CONFIG_MAPS,
  type Deployment,
  DEPLOYMENTS,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
} from '@asterism/machinery';
import { API_VERSION, clusterNamespace, type Work, WORKS } from '../../api/index.ts';
import { Fleet } from '../testing/fleet.ts';
import { EXECUTOR_FINALIZER } from '../works/work-object.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

interface Env {
  name: string;
  value: string;
}

const deployment = (name: string, env: Env[] = [{ name: 'MODE', value: 'fast' }]): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'demo' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'nginx:1.29', env }] },
    },
  },
});

describe('adoption', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: {} });
    await fleet.run();
    await fleet
      .member('ant')
      .resource(NAMESPACES)
      .create({ metadata: { name: 'demo' } });
  });
  after(() => fleet[Symbol.asyncDispose]());

  const inMember = <T extends KubeObject>(type: ResourceType<T>) => fleet.member('ant').resource(type);
  const workRef = (name: string) => ({ namespace: clusterNamespace('ant'), name });
  const place = (name: string, manifest: KubeObject, spec: Partial<Work['spec']> = {}) =>
    fleet.hub.resource(WORKS).create({
      apiVersion: API_VERSION,
      kind: 'Work',
      metadata: { ...workRef(name), finalizers: [EXECUTOR_FINALIZER] },
      spec: { manifests: [manifest], conflictResolution: 'Overwrite', ...spec },
    });
  const told = (name: string, applied: boolean) =>
    untilObject(fleet.hub, WORKS, workRef(name), (it) => it?.status?.manifestStatuses?.[0]?.applied === applied);
  const changes = (name: string, manifest: KubeObject) =>
    fleet.hub
      .resource(WORKS)
      .patch(workRef(name), { type: 'json', body: [{ op: 'replace', path: '/spec/manifests', value: [manifest] }] });
  const envOf = (object: Deployment | undefined): string[] =>
    (object?.spec?.template.spec?.containers[0]?.env ?? []).map(({ name }) => name);

  /** As `kubectl apply` makes it, and as `kubectl set env` and an autoscaler change it. */
  async function madeByOthers(name: string): Promise<Deployment> {
    const { metadata, ...rest } = deployment(name);
    const annotations = { [LAST_APPLIED]: JSON.stringify(deployment(name)) };
    const made = { ...rest, metadata: { ...metadata, annotations } };
    await inMember(DEPLOYMENTS).create(made, { fieldManager: 'kubectl-client-side-apply' });
    const env = [{ name: 'ADDED', value: 'later' }];
    const template = { spec: { containers: [{ name: 'web', env }] } };
    const body = { spec: { template } };
    const ref = { namespace: 'demo', name };
    await inMember(DEPLOYMENTS).patch(ref, { type: 'strategic', body }, { fieldManager: 'kubectl-set' });
    const scale = { spec: { replicas: 5 } };
    return inMember(DEPLOYMENTS).patch(ref, { type: 'merge', body: scale }, { fieldManager: 'hpa' });
  }

  test('an object that says what the template does is taken as it is: nothing of its spec changes, nothing starts anew', async () => {
    const before = await madeByOthers('web');
    const { replicas: _, ...spec } = deployment('web').spec ?? {};
    await place('web', { ...deployment('web'), spec });
    await told('web', true);
    const after = await inMember(DEPLOYMENTS).get({ namespace: 'demo', name: 'web' });
    assert.equal(after.metadata?.labels?.['asterism.dev/managed'], 'web');
    assert.equal(after.metadata?.uid, before.metadata?.uid);
    assert.deepEqual(after.spec, before.spec);
    assert.deepEqual(
      after.metadata?.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).toSorted(),
      ['asterism Apply', 'hpa Update', 'kubectl-set Update'],
    );
    assert.equal(after.metadata?.annotations?.[LAST_APPLIED], undefined);
  });

  test('nothing at all but labels changes where there is nothing that only kubectl reads', async () => {
    const before = await inMember(DEPLOYMENTS).create(deployment('plain'), { fieldManager: 'kubectl-create' });
    await place('plain', deployment('plain'));
    await told('plain', true);
    const after = await inMember(DEPLOYMENTS).get({ namespace: 'demo', name: 'plain' });
    assert.equal(after.metadata?.labels?.['asterism.dev/managed'], 'plain');
    // Of a Deployment it counts changes of annotations too: that is why the one above has another.
    assert.equal(after.metadata?.generation, before.metadata?.generation);
    assert.deepEqual(after.spec, before.spec);
  });

  test('what the template then loses goes, though somebody else had made it; what others changed stays', async () => {
    await changes('web', deployment('web', []));
    const without = await untilObject(
      fleet.member('ant'),
      DEPLOYMENTS,
      { namespace: 'demo', name: 'web' },
      (it) => !envOf(it).includes('MODE'),
    );
    assert.deepEqual(envOf(without), ['ADDED']);
  });

  test('what another Work has placed is not taken, even where others are overwritten', async () => {
    const conf: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf', namespace: 'demo' } };
    await place('first', { ...conf, data: { by: 'first' } });
    await told('first', true);
    await place('second', { ...conf, data: { by: 'second' } });
    const refused = await told('second', false);
    assert.match(refused?.status?.manifestStatuses?.[0]?.message ?? '', /placed by the Work first/);
    assert.deepEqual((await inMember(CONFIG_MAPS).get({ namespace: 'demo', name: 'conf' })).data, { by: 'first' });
  });

  test('what somebody else makes in the very moment in which it is placed is not overwritten', async () => {
    const late: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late', namespace: 'demo' } };
    fleet.before = async (write) => {
      if (!write.startsWith('ant PATCH') || !write.includes('/configmaps/late')) return;
      fleet.before = undefined;
      await inMember(CONFIG_MAPS).create({ ...late, data: { by: 'somebody' } });
    };
    await place('late', { ...late, data: { by: 'us' } }, { conflictResolution: 'Abort' });
    const refused = await told('late', false);
    assert.match(refused?.status?.manifestStatuses?.[0]?.message ?? '', /was not placed by Asterism/);
    assert.deepEqual((await inMember(CONFIG_MAPS).get({ namespace: 'demo', name: 'late' })).data, { by: 'somebody' });
  });

  const space = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { team: 'blue' } },
  });

  test('a Namespace that was there is taken only by Overwrite, and outlives its template', async () => {
    await inMember(NAMESPACES).create({ metadata: { name: 'theirs', labels: { old: 'yes' } } });
    await place('space', space('theirs'), { conflictResolution: 'Abort' });
    const refused = await told('space', false);
    assert.match(refused?.status?.manifestStatuses?.[0]?.message ?? '', /conflictResolution: Overwrite/);
    const body = { spec: { conflictResolution: 'Overwrite' } };
    await fleet.hub.resource(WORKS).patch(workRef('space'), { type: 'merge', body });
    await told('space', true);
    const taken = await inMember(NAMESPACES).get({ name: 'theirs' });
    const { labels = {} } = taken.metadata ?? {};
    assert.deepEqual([labels['asterism.dev/managed'], labels['old'], labels['team']], ['space', 'yes', 'blue']);
    await fleet.hub.resource(WORKS).delete(workRef('space'));
    const isLetGo = (it: KubeObject | undefined): boolean => !it?.metadata?.labels?.['asterism.dev/managed'];
    const left = await untilObject(fleet.member('ant'), NAMESPACES, { name: 'theirs' }, isLetGo);
    assert.equal(left?.metadata?.uid, taken.metadata?.uid);
    assert.equal(left?.metadata?.deletionTimestamp, undefined);
    assert.equal(left?.metadata?.annotations?.['asterism.dev/adopted'], undefined);
  });

  test('a Namespace that the template has made goes with it, also where its content was there first', async () => {
    await place('inside', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'ours' } });
    await told('inside', true);
    await place('ours', space('ours'));
    await told('ours', true);
    await fleet.hub.resource(WORKS).delete(workRef('ours'));
    const goes = (it: KubeObject | undefined): boolean =>
      it === undefined || it.metadata?.deletionTimestamp !== undefined;
    await untilObject(fleet.member('ant'), NAMESPACES, { name: 'ours' }, goes);
  });
});
