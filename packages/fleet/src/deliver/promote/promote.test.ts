import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CLUSTER_ROLES,
  CONFIG_MAPS,
  type ConfigMap,
  type Deployment,
  DEPLOYMENTS,
  findCondition,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '@asterism/machinery';
import {
  API_VERSION,
  CLUSTER_RESOURCE_BINDINGS,
  type ClusterPropagationPolicy,
  CLUSTER_PROPAGATION_POLICIES,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
} from '../../api/index.ts';
import { Fleet } from '../testing/fleet.ts';
import { carryOut, planPromotion, PromotionError, type PromotionRequest } from './index.ts';

const SERVED = ['v1/ConfigMap', 'v1/Service', 'apps/v1/Deployment', 'rbac.authorization.k8s.io/v1/ClusterRole'];

describe('promotion', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: { serves: SERVED }, bee: { serves: SERVED } });
    await fleet.run();
    await fleet
      .member('ant')
      .resource(NAMESPACES)
      .create({ metadata: { name: 'shop' } });
  });
  after(() => fleet[Symbol.asyncDispose]());

  const request = (type: ResourceType, name: string, extra: Partial<PromotionRequest> = {}): PromotionRequest => ({
    hub: fleet.hub,
    member: fleet.member('ant'),
    cluster: 'ant',
    type,
    ...(type.namespaced ? { namespace: 'shop' } : {}),
    name,
    dependencies: false,
    ...extra,
  });
  const inMember = <T extends KubeObject>(type: ResourceType<T>) => fleet.member('ant').resource(type);
  const ref = (name: string) => ({ namespace: 'shop', name });

  /** Carries it out, so many steps of it, and tells what was done. */
  async function promote(asked: PromotionRequest, steps = Number.POSITIVE_INFINITY): Promise<string[]> {
    const promotion = await planPromotion(asked);
    const done: string[] = [];
    if (steps === 0) return done;
    for await (const { object, created } of carryOut(fleet.hub, promotion)) {
      done.push(`${object.kind} ${object.metadata?.name} ${created ? 'created' : 'unchanged'}`);
      if (done.length === steps) break;
    }
    return done;
  }
  const refused = (asked: PromotionRequest, why: RegExp) =>
    assert.rejects(promote(asked), (error) => error instanceof PromotionError && why.test(error.message));
  const isTakenOver = (name: string, type = RESOURCE_BINDINGS) =>
    untilObject(
      fleet.hub,
      type,
      type === RESOURCE_BINDINGS ? ref(name) : { name },
      (it) => findCondition(it?.status?.conditions, 'FullyApplied')?.status === 'True',
    );

  const configMap = (name: string, value = 'member'): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: ref(name),
    data: { value },
  });
  const deployment = (name: string, config: string): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: ref(name),
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [{ name: 'web', image: 'nginx:1.29' }],
          volumes: [
            { name: 'conf', configMap: { name: config } },
            { name: 'more', configMap: { name: 'nowhere', optional: true } },
          ],
        },
      },
    },
  });

  test('a Deployment with what it needs is taken over as it stands, wherever the promotion was broken off before', async () => {
    await inMember(CONFIG_MAPS).create(configMap('conf'), { fieldManager: 'kubectl-create' });
    const live = await inMember(DEPLOYMENTS).create(deployment('web', 'conf'), { fieldManager: 'kubectl-create' });
    const asked = request(DEPLOYMENTS, 'web', { dependencies: true });
    assert.deepEqual(await promote(asked, 1), ['Namespace shop created']);
    assert.deepEqual(await promote(asked, 1), ['PropagationPolicy web-deployment created']);
    assert.deepEqual(await promote(asked, 2), ['PropagationPolicy web-deployment unchanged', 'ConfigMap conf created']);
    assert.deepEqual(await promote(asked), ['PropagationPolicy web-deployment unchanged', 'Deployment web created']);
    await isTakenOver('web-deployment');
    await isTakenOver('conf-configmap');
    const taken = await inMember(DEPLOYMENTS).get(ref('web'));
    assert.equal(taken.metadata?.labels?.['asterism.dev/managed'], 'shop.web-deployment');
    assert.deepEqual(taken.spec, live.spec);
    assert.equal(taken.metadata?.generation, live.metadata?.generation);
    assert.equal(
      (await inMember(CONFIG_MAPS).get(ref('conf'))).metadata?.labels?.['asterism.dev/managed'],
      'shop.conf-configmap',
    );
    await assert.rejects(fleet.member('bee').resource(DEPLOYMENTS).get(ref('web')), { code: 404 });
    assert.deepEqual(await promote(asked), ['PropagationPolicy web-deployment unchanged', 'Deployment web unchanged']);
    // What the template loses from now on, the member loses.
    await fleet.hub.resource(DEPLOYMENTS).patch(ref('web'), { type: 'merge', body: { spec: { replicas: 4 } } });
    await untilObject(fleet.member('ant'), DEPLOYMENTS, ref('web'), (it) => it?.spec?.replicas === 4);
  });

  test('the pull secret of its service account comes along', async () => {
    await inMember(SECRETS).create({ metadata: ref('pull') });
    const imagePullSecrets = [{ name: 'pull' }];
    await inMember(SERVICE_ACCOUNTS).create({ metadata: ref('robot'), imagePullSecrets });
    const { spec, ...rest } = deployment('pulled', 'conf');
    const template = {
      ...spec?.template,
      spec: { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'robot' },
    };
    await inMember(DEPLOYMENTS).create({ ...rest, spec: { ...spec, template } } as Deployment);
    assert.deepEqual(await promote(request(DEPLOYMENTS, 'pulled', { dependencies: true })), [
      'PropagationPolicy pulled-deployment created',
      'ServiceAccount robot created',
      'Secret pull created',
      'Deployment pulled created',
    ]);
    await isTakenOver('pull-secret');
  });

  test('a Service keeps its address and its port of the nodes', async () => {
    const made = await inMember(SERVICES).create({
      metadata: ref('web'),
      spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    await promote(request(SERVICES, 'web'));
    await isTakenOver('web-service');
    const { spec } = await inMember(SERVICES).get(ref('web'));
    assert.deepEqual([spec?.clusterIP, spec?.ports], [made.spec?.clusterIP, made.spec?.ports]);
  });

  test('an object without a namespace gets a ClusterPropagationPolicy', async () => {
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    await inMember(CLUSTER_ROLES).create({ metadata: { name: 'readers' }, rules });
    assert.deepEqual(await promote(request(CLUSTER_ROLES, 'readers')), [
      'ClusterPropagationPolicy readers-clusterrole created',
      'ClusterRole readers created',
    ]);
    await isTakenOver('readers-clusterrole', CLUSTER_RESOURCE_BINDINGS as never);
  });

  test('what is refused leaves nothing behind', async () => {
    await inMember(CONFIG_MAPS).create(configMap('doubled'));
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('doubled', 'hub'));
    await refused(request(CONFIG_MAPS, 'doubled'), /the hub has a ConfigMap shop\/doubled already/);
    await refused(request(CONFIG_MAPS, 'nobody'), /there is no ConfigMap shop\/nobody in cluster ant/);
    await refused(
      request(CONFIG_MAPS, 'conf'),
      /managed by Asterism already: the Work shop\.conf-configmap has placed it/,
    );
    await inMember(DEPLOYMENTS).create(deployment('other', 'doubled'));
    await refused(
      request(DEPLOYMENTS, 'other', { dependencies: true }),
      /ConfigMap shop\/doubled of the hub is not what stands in cluster ant/,
    );
    await refused(
      request(DEPLOYMENTS, 'web', { cluster: 'bee' }),
      /PropagationPolicy shop\/web-deployment that says otherwise/,
    );
    const policies = await fleet.hub.resource(PROPAGATION_POLICIES).list();
    const names = new Set(policies.items.map(({ metadata }) => metadata.name));
    assert.deepEqual(names, new Set(['web-deployment', 'web-service', 'pulled-deployment']));
  });

  test('what another policy would place is refused, and named', async () => {
    await inMember(CLUSTER_ROLES).create({ metadata: { name: 'wide' }, rules: [] });
    const metadata = { name: 'everything' };
    const policy = (priority: number): ClusterPropagationPolicy => ({
      apiVersion: API_VERSION,
      kind: 'ClusterPropagationPolicy',
      metadata,
      spec: {
        resourceSelectors: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'wide' }],
        priority,
        placement: { clusterAffinity: { clusterNames: ['bee'] } },
      },
    });
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create(policy(5));
    await refused(request(CLUSTER_ROLES, 'wide'), /^ClusterPropagationPolicy everything would place ClusterRole\.rbac/);
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).delete(metadata);
    await planPromotion(request(CLUSTER_ROLES, 'wide'));
  });
});
