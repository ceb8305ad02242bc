import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { DEPLOYMENTS, type KubeObject, type PodSpec } from '@asterism/machinery';
import { type Clock, systemClock } from '@asterism/runtime';
import { API_VERSION, clusterNamespace, type Work, WORKS } from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { definitionOf, WIDGETS } from './testing/custom-kind.ts';
import { Fleet } from './testing/fleet.ts';

const RBAC = 'rbac.authorization.k8s.io';
const WEB = { namespace: 'shop', name: 'web' };

const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: WEB };
const configMap: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: WEB, data: { key: 'hub' } };
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: WEB, stringData: { key: 'secret' } };
const roleBinding: KubeObject = {
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: WEB,
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
};
const workload = (podSpec: Partial<PodSpec> = {}): KubeObject => ({ ...deployment(1, { podSpec }), metadata: WEB });

const SERVES = [namespace, account, configMap, secret, roleBinding, workload()].map(
  ({ apiVersion, kind }) => `${apiVersion}/${kind}`,
);

/** A clock by which nobody has waited long enough, until all have. */
class Patience implements Clock {
  readonly #timers = new Set<() => void>();
  #isOver = false;

  wall(): Date {
    return systemClock.wall();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  setTimer(callback: () => void): () => void {
    this.#timers.add(callback);
    if (this.#isOver) setImmediate(() => this.end());
    return () => this.#timers.delete(callback);
  }

  end(): void {
    this.#isOver = true;
    for (const callback of this.#timers) callback();
    this.#timers.clear();
  }
}

async function create({ client, objects }: { client: Client; objects: readonly KubeObject[] }): Promise<void> {
  for (const object of objects) await client.resource(await client.discovery.typeFor(object)).create(object);
}

/** A policy of the namespace `shop` for these objects. */
function policyFor(objects: readonly KubeObject[], spec: object = {}): KubeObject {
  const resourceSelectors = objects.map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, ...metadata }));
  const isOfAll = objects.some(({ metadata }) => metadata?.namespace === undefined);
  const kind = isOfAll ? 'ClusterPropagationPolicy' : 'PropagationPolicy';
  const metadata = isOfAll ? { name: 'web' } : WEB;
  return { apiVersion: API_VERSION, kind, metadata, spec: { resourceSelectors, ...spec } };
}

/** A Work of `ant` for each of the objects, in whose names their order is. */
function worksOf(objects: readonly KubeObject[]): Work[] {
  return objects.map((object, index) => ({
    apiVersion: API_VERSION,
    kind: 'Work',
    metadata: { name: `w${index}`, namespace: clusterNamespace('ant') },
    spec: { manifests: [object] },
  }));
}

/** Of which resources there are writes to a member, in the order of the first ones. */
function resourcesOf(writes: readonly string[], name: string): string[] {
  const start = `${name} PATCH `;
  const urls = writes.filter((write) => write.startsWith(start)).map((write) => write.slice(start.length));
  return [...new Set(urls.map((url) => new URL(url, 'https://member').pathname.split('/').at(-2) ?? ''))];
}

/** Lets no write pass whose path has this part, until `answer` is called. */
function hold(fleet: Fleet, part: string): Disposable & { asked: Promise<void>; answer: () => void } {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  fleet.before = (write) => {
    if (!write.includes(part)) return Promise.resolve();
    ask();
    return answered;
  };
  return { asked, answer, [Symbol.dispose]: answer };
}

const isApplied = (work: Work | undefined) => work?.status?.manifestStatuses?.[0]?.applied === true;
const standsIn = (fleet: Fleet, name: string) =>
  untilObject(fleet.member(name), DEPLOYMENTS, WEB, (it) => it !== undefined);
const workBecomes = (fleet: Fleet, name: string, check: (work: Work | undefined) => boolean, cluster = 'ant') =>
  untilObject(fleet.hub, WORKS, { namespace: clusterNamespace(cluster), name }, check);

test('what one policy places at once comes to each member in the order in which it is needed, by Push and Pull', async () => {
  const away = { serves: SERVES, away: true } as const;
  await using fleet = await Fleet.start(
    { ant: away, bee: { ...away, syncMode: 'Pull' } },
    { timing: { clock: new Patience() } },
  );
  const objects = [namespace, workload(), configMap, roleBinding, account];
  await create({ client: fleet.hub, objects });
  const passed: string[] = [];
  fleet.before = async (write) => {
    // What needs nothing is the slowest.
    if (!write.includes('/deployments/')) await fleet.member('ant').version();
    passed.push(write);
  };
  await fleet.run();
  await create({ client: fleet.hub, objects: [policyFor(objects)] });
  for (const name of ['ant', 'bee']) {
    const inShop = objects
      .filter(({ metadata }) => metadata?.namespace)
      .map(({ kind }) => `shop.web-${kind?.toLowerCase()}`);
    for (const work of [...inShop, 'shop-namespace']) await workBecomes(fleet, work, (it) => it !== undefined, name);
    fleet.arrive(name);
    await standsIn(fleet, name);
    const written = resourcesOf(passed, name);
    assert.deepEqual(written.slice(0, 2), ['namespaces', 'serviceaccounts'], name);
    assert.deepEqual(written.slice(2, 4).toSorted(), ['configmaps', 'rolebindings'], name);
    assert.deepEqual(written.slice(4), ['deployments'], name);
  }
});

test('what a member refuses holds up what needs it until then, and no longer', async () => {
  await using fleet = await Fleet.start(
    { ant: { refuses: { '"kind":"Secret"': 'no' } } },
    { timing: { clock: new Patience() } },
  );
  // Before anything runs, so that the last is needed first.
  await create({ client: fleet.hub, objects: worksOf([workload(), configMap, secret]) });
  await fleet.run();
  await standsIn(fleet, 'ant');
  const written = resourcesOf(fleet.writes, 'ant');
  assert.deepEqual(written.slice(0, 2).toSorted(), ['configmaps', 'secrets']);
  assert.deepEqual(written.slice(2), ['deployments']);
  const refused = await workBecomes(fleet, 'w2', (it) => it?.status?.manifestStatuses?.[0]?.applied === false);
  assert.match(refused?.status?.manifestStatuses?.[0]?.message ?? '', /^Secret shop\/web: it is not valid/);
  await workBecomes(fleet, 'w1', isApplied);
  await workBecomes(fleet, 'w0', isApplied);
});

test('what a member leaves without an answer holds nobody up for long', async () => {
  const patience = new Patience();
  await using fleet = await Fleet.start({ ant: {} }, { timing: { clock: patience } });
  using held = hold(fleet, '/secrets/');
  await create({ client: fleet.hub, objects: worksOf([workload(), secret]) });
  await fleet.run();
  await held.asked;
  patience.end();
  await standsIn(fleet, 'ant');
  assert.deepEqual(resourcesOf(fleet.writes, 'ant'), ['secrets', 'deployments']);
  held.answer();
  await workBecomes(fleet, 'w1', isApplied);
});

test('an object of a kind is not tried before its definition is established', async () => {
  await using fleet = await Fleet.start({ ant: {} }, { timing: { clock: new Patience() } });
  using held = hold(fleet, '/customresourcedefinitions/');
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: WEB };
  await create({ client: fleet.hub, objects: worksOf([widget, definitionOf(WIDGETS), namespace]) });
  await fleet.run();
  await held.asked;
  await workBecomes(fleet, 'w2', isApplied);
  held.answer();
  await workBecomes(fleet, 'w0', isApplied);
  const told = fleet.writes.filter((write) => write.startsWith('hub PATCH ') && write.includes('/works/w0/status'));
  assert.equal(told.length, 1, 'that it failed was never told');
});

test('what stands already is put right though something before it is not answered', async () => {
  await using fleet = await Fleet.start({ ant: {} }, { timing: { clock: new Patience() } });
  await create({ client: fleet.hub, objects: worksOf([workload()]) });
  await fleet.run();
  await workBecomes(fleet, 'w0', (it) => it?.status?.observedGeneration === it?.metadata.generation);
  using held = hold(fleet, '/secrets/');
  const [, ofSecret] = worksOf([workload(), secret]);
  await create({ client: fleet.hub, objects: ofSecret ? [ofSecret] : [] });
  await held.asked;
  const deployments = fleet.member('ant').resource(DEPLOYMENTS);
  await deployments.patch(WEB, { type: 'merge', body: { spec: { replicas: 7 } } });
  await untilObject(fleet.member('ant'), DEPLOYMENTS, WEB, (it) => it?.spec?.replicas === 1);
});

const needsBoth = workload({ serviceAccountName: 'web', volumes: [{ name: 'conf', configMap: { name: 'web' } }] });

test('what a template takes along comes before it, also where a policy is the first to name any of it', async () => {
  await using fleet = await Fleet.start({ ant: { serves: SERVES } }, { timing: { clock: new Patience() } });
  const pulling = { ...account, imagePullSecrets: [{ name: 'web' }] };
  await create({ client: fleet.hub, objects: [namespace, configMap, secret, pulling, needsBoth] });
  await fleet.run();
  await create({ client: fleet.hub, objects: [policyFor([needsBoth], { propagateDeps: true })] });
  await standsIn(fleet, 'ant');
  const written = resourcesOf(fleet.writes, 'ant');
  assert.deepEqual(written.slice(0, 3).toSorted(), ['configmaps', 'secrets', 'serviceaccounts']);
  assert.deepEqual(written.slice(3), ['deployments']);
});

test('what a template takes along and cannot be had holds it up no longer', async () => {
  const patience = new Patience();
  await using fleet = await Fleet.start({ ant: { serves: SERVES } }, { timing: { clock: patience } });
  const overrideRules = [{ overriders: { plaintext: [{ path: '/data/nope', operator: 'replace', value: 'x' }] } }];
  const resourceSelectors = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'web' }];
  const spec = { resourceSelectors, overrideRules };
  const faulty: KubeObject = { apiVersion: API_VERSION, kind: 'OverridePolicy', metadata: WEB, spec };
  await create({ client: fleet.hub, objects: [namespace, configMap, account, needsBoth, faulty] });
  await fleet.run();
  await create({ client: fleet.hub, objects: [policyFor([needsBoth], { propagateDeps: true })] });
  await workBecomes(fleet, 'shop.web-serviceaccount', isApplied);
  patience.end();
  await standsIn(fleet, 'ant');
  assert.deepEqual(resourcesOf(fleet.writes, 'ant'), ['serviceaccounts', 'deployments']);
});
