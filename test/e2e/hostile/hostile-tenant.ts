import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import {
  API_VERSION,
  AUTHOR_ANNOTATION,
  OVERRIDE_POLICIES,
  type Overriders,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  WORKS,
} from '@asterism/fleet/api';
import { revealHidden } from '@asterism/fleet/place';
import {
  CLUSTER_ROLE_BINDINGS,
  CONFIG_MAPS,
  DEPLOYMENTS,
  ifFound,
  isStatusError,
  type KubeObject,
  NAMESPACES,
  RESOURCE_QUOTAS,
  type ResourceType,
  ROLES,
  SECRETS,
} from '@asterism/machinery';
import { until } from '../../cluster/until.ts';
import { untilGone } from '../../cluster/until-gone.ts';
import type { TenantStage } from './tenant-stage.ts';

/** Whether the API server that holds the policies is the hub's own, and so asks for rights when one is written. */
export type HubForm = 'embedded' | 'on a kube-apiserver';

const PLACED_BY_POLICY = {
  apiGroups: ['asterism.dev'],
  resources: ['propagationpolicies', 'overridepolicies'],
  verbs: ['*'],
};
const WORKLOADS = { apiGroups: ['', 'apps'], resources: ['configmaps', 'deployments'], verbs: ['*'] };

const configMap = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
});

function policyFor(
  { apiVersion = '', kind = '', metadata }: KubeObject,
  spec: Partial<PropagationPolicy['spec']> = {},
): PropagationPolicy {
  const { namespace = '', name = '' } = metadata ?? {};
  const resourceSelectors = [{ apiVersion, kind, name }];
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { namespace, name },
    spec: { resourceSelectors, ...spec },
  };
}

/** A pod that would own its node. */
function ownsItsNode(namespace: string): KubeObject {
  const labels = { app: 'root' };
  const spec = {
    hostPID: true,
    containers: [{ name: 'root', image: 'busybox:1' }],
    volumes: [{ name: 'host', hostPath: { path: '/' } }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'root' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/**
 * The doors 8, 9 and 11 of a review, each tried by `eve`, who may write policies and workloads in a namespace and nothing else; and what
 * `tom`, who may place in `alder`, does with the same means.
 */
export function hostileTenant(onStage: () => TenantStage, form: HubForm): void {
  let stage: TenantStage;
  let eve: Client;
  let tom: Client;

  before(async () => {
    stage = onStage();
    for (const name of ['team-eve', 'team-tom', 'team-own', 'team-victim'])
      await stage.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await stage.grant('eve', 'team-eve', [PLACED_BY_POLICY, WORKLOADS]);
    await stage.grant('eve', 'team-own', [{ apiGroups: ['asterism.dev'], resources: ['*'], verbs: ['*'] }]);
    await stage.grant('tom', 'team-tom', [PLACED_BY_POLICY, WORKLOADS]);
    const resource = { apiGroups: ['asterism.dev'], resources: ['clusters'] };
    await stage.grantEverywhere('tom', [{ ...resource, resourceNames: ['alder'], verbs: ['place'] }]);
    [eve, tom] = [stage.as('eve'), stage.as('tom')];
  });

  const bindingOf = (namespace: string, name: string, isWanted: (binding: ResourceBinding) => boolean) =>
    until(stage.admin, RESOURCE_BINDINGS, { namespace, name }, isWanted, { timeoutMs: 20_000 });
  const isNowhere = async (type: ResourceType, namespace: string, name: string): Promise<void> => {
    for (const member of ['alder', 'birch']) {
      const found = await ifFound(stage.member(member).resource(type).get({ namespace, name }));
      assert.equal(found, undefined, `${type.kind} ${name} is in ${member}`);
    }
  };
  /** Refused when it is written, or placed nowhere for want of a right. */
  const isShut = async (policy: PropagationPolicy, user: Client, missing: RegExp): Promise<void> => {
    const { namespace = '', name = '' } = policy.metadata;
    const writing = user.resource(PROPAGATION_POLICIES).create(policy);
    if (form === 'embedded') {
      await assert.rejects(writing, (error) => isStatusError(error, 'Forbidden') && missing.test(error.message));
      return;
    }
    await writing;
    const kind = policy.spec.resourceSelectors[0]?.kind.toLowerCase() ?? '';
    const binding = await bindingOf(namespace, `${name}-${kind}`, ({ spec }) => spec.unschedulable !== undefined);
    assert.deepEqual(binding.spec.clusters ?? [], []);
    assert.match(binding.spec.unschedulable?.message ?? '', missing);
    for (const { reason } of binding.spec.decisions ?? []) assert.equal(reason, 'NotPermitted');
  };

  describe('placing', () => {
    test('a Deployment that would own the nodes is placed nowhere', async () => {
      await eve.resource(DEPLOYMENTS).create(ownsItsNode('team-eve') as never);
      await isShut(policyFor(ownsItsNode('team-eve')), eve, /place/);
      await isNowhere(DEPLOYMENTS, 'team-eve', 'root');
      await isNowhere(NAMESPACES, '', 'team-eve');
    });

    test('a Secret that its author may not read leaves the hub neither selected nor as a follower', async () => {
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'team-tom', name: 'key' } };
      await stage.create({ ...secret, stringData: { word: 'open' } });
      await isShut(policyFor(secret), tom, /secrets/);
      const app = ownsItsNode('team-tom');
      const labels = { app: 'root' };
      const pod = { containers: [{ name: 'a', image: 'busybox:1', envFrom: [{ secretRef: { name: 'key' } }] }] };
      const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
      await tom.resource(DEPLOYMENTS).create({ ...app, spec } as never);
      await tom.resource(PROPAGATION_POLICIES).create(policyFor(app, { propagateDeps: true }));
      await until(stage.member('alder'), DEPLOYMENTS, { namespace: 'team-tom', name: 'root' }, () => true);
      const { spec: decided } = await bindingOf(
        'team-tom',
        'root-deployment',
        ({ spec: it }) => it.withheld !== undefined,
      );
      assert.match(
        decided.withheld?.[0]?.message ?? '',
        /"tom".* needs verb get on secrets "key" in namespace "team-tom"/,
      );
      await isNowhere(SECRETS, 'team-tom', 'key');
    });

    test('a tenant places where it may, and reads of no other cluster', async () => {
      await tom.resource(CONFIG_MAPS).create(configMap('team-tom', 'settings'));
      await tom.resource(PROPAGATION_POLICIES).create(policyFor(configMap('team-tom', 'settings')));
      await until(stage.member('alder'), CONFIG_MAPS, { namespace: 'team-tom', name: 'settings' }, () => true);
      const isApplied = ({ status }: ResourceBinding): boolean => status?.aggregatedStatus?.[0]?.applied === true;
      const binding = await bindingOf('team-tom', 'settings-configmap', isApplied);
      const { spec, status } = binding;
      assert.doesNotMatch(JSON.stringify([spec, status]), /birch/);
      assert.equal(spec.hiddenClusters?.count, 1);
      assert.match(spec.hiddenClusters.message, /"tom".* needs verb place on clusters\.asterism\.dev\)$/);
      const template = await stage.admin.resource(CONFIG_MAPS).get({ namespace: 'team-tom', name: 'settings' });
      const [birch, ...more] = await revealHidden(stage.admin, template, binding);
      assert.deepEqual([birch?.cluster, birch?.reason, more], ['birch', 'NotPermitted', []]);
      assert.match(birch?.message ?? '', /"tom".*: needs verb place on clusters.asterism.dev "birch"$/);
      await assert.rejects(revealHidden(tom, template, binding), (error) => isStatusError(error, 'Forbidden'));
    });

    test('a policy without a right takes nothing from one of the cluster', async () => {
      const object = configMap('team-eve', 'shared');
      const policy = policyFor(object, { preemption: 'Always', priority: 9 });
      const writing = eve.resource(PROPAGATION_POLICIES).create(policy);
      if (form === 'embedded') await assert.rejects(writing, (error) => isStatusError(error, 'Forbidden'));
      else await writing;
      await stage.create(object, {
        apiVersion: API_VERSION,
        kind: 'ClusterPropagationPolicy',
        metadata: { name: 'shared' },
        spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'team-eve', name: 'shared' }] },
      });
      for (const name of ['alder', 'birch'])
        await until(stage.member(name), CONFIG_MAPS, { namespace: 'team-eve', name: 'shared' }, () => true);
      const { spec } = await bindingOf('team-eve', 'shared-configmap', () => true);
      assert.equal(spec.policy?.kind, 'ClusterPropagationPolicy');
    });

    test('a record of an author that the author wrote is worth nothing', async () => {
      const admin = JSON.stringify({ username: 'admin', groups: ['asterism:admins', 'system:masters'] });
      const object = configMap('team-eve', 'forged');
      await eve.resource(CONFIG_MAPS).create(object);
      const policy = policyFor(object);
      await isShut(
        { ...policy, metadata: { ...policy.metadata, annotations: { [AUTHOR_ANNOTATION]: admin } } },
        eve,
        /place/,
      );
      await isNowhere(CONFIG_MAPS, 'team-eve', 'forged');
    });
  });

  describe('overriding', () => {
    const OVERRIDES: [name: string, overriders: Overriders][] = [
      [
        'role',
        {
          plaintext: [
            { path: '/rules', operator: 'add', value: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
          ],
        },
      ],
      ['quota', { mergePatch: [{ spec: { hard: { pods: '1000' } } }] }],
      ['map', { mergePatch: [{ data: { level: 'low' } }] }],
    ];

    test('what an administrator has placed in the namespace stays as it is', async () => {
      const metadata = (name: string) => ({ namespace: 'team-eve', name });
      for (const [name, overriders] of OVERRIDES) {
        await eve.resource(OVERRIDE_POLICIES).create({
          apiVersion: API_VERSION,
          kind: 'OverridePolicy',
          metadata: metadata(name),
          spec: { overrideRules: [{ overriders }] },
        });
      }
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
      const objects: KubeObject[] = [
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: metadata('viewer'), rules },
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: metadata('limits'), spec: { hard: { pods: '3' } } },
        { ...configMap('team-eve', 'base'), data: { level: 'high' } },
      ];
      await stage.create(...objects, {
        apiVersion: API_VERSION,
        kind: 'ClusterPropagationPolicy',
        metadata: { name: 'guards' },
        spec: {
          resourceSelectors: objects.map(({ apiVersion = '', kind = '', metadata: { name } = {} }) => ({
            apiVersion,
            kind,
            namespace: 'team-eve',
            name: name ?? '',
          })),
        },
      });
      for (const binding of ['viewer-role', 'limits-resourcequota', 'base-configmap']) {
        const { status } = await bindingOf('team-eve', binding, (it) =>
          Boolean(
            it.status?.aggregatedStatus?.length === 2 && it.status.aggregatedStatus.every(({ applied }) => applied),
          ),
        );
        const reasons = new Set(status?.unappliedOverrides?.map(({ reason }) => reason));
        assert.deepEqual([...reasons], ['Refused'], binding);
      }
      for (const member of ['alder', 'birch'].map((name) => stage.member(name))) {
        const role = await member.resource(ROLES).get(metadata('viewer'));
        const quota = await member.resource(RESOURCE_QUOTAS).get(metadata('limits'));
        const map = await member.resource(CONFIG_MAPS).get(metadata('base'));
        assert.deepEqual([role.rules, quota.spec?.hard?.['pods'], map.data?.['level']], [rules, '3', 'high']);
      }
    });

    test('what a tenant has placed itself it may change', async () => {
      await tom.resource(OVERRIDE_POLICIES).create({
        apiVersion: API_VERSION,
        kind: 'OverridePolicy',
        metadata: { namespace: 'team-tom', name: 'here' },
        spec: {
          resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }],
          overrideRules: [{ overriders: { mergePatch: [{ data: { at: 'alder' } }] } }],
        },
      });
      const ref = { namespace: 'team-tom', name: 'settings' };
      await until(stage.member('alder'), CONFIG_MAPS, ref, ({ data }) => data?.['at'] === 'alder');
    });
  });

  test('a binding that a tenant writes delivers nothing of another namespace', async () => {
    const { metadata } = await stage.admin
      .resource(SECRETS)
      .create({ metadata: { namespace: 'team-victim', name: 'secret' }, stringData: { word: 'open' } });
    const resource = {
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: 'team-victim',
      name: 'secret',
      uid: metadata?.uid ?? '',
    };
    const { namespace: _, ...clusterScoped } = resource;
    for (const [turn, named] of [resource, clusterScoped].entries()) {
      const ref = { namespace: 'team-own', name: `stray-${turn}` };
      const writing = eve.resource(RESOURCE_BINDINGS).create({
        apiVersion: API_VERSION,
        kind: 'ResourceBinding',
        metadata: ref,
        spec: { resource: named, clusters: [{ name: 'alder' }, { name: 'birch' }] },
      });
      if (form === 'embedded') await assert.rejects(writing, (error) => isStatusError(error, 'Forbidden'));
      else await writing;
      await untilGone(stage.admin, RESOURCE_BINDINGS, ref, 20_000);
    }
    await isNowhere(SECRETS, 'team-victim', 'secret');
    const { items } = await stage.admin.resource(WORKS).list();
    assert.ok(!items.some(({ spec }) => spec.manifests.some(({ kind }) => kind === 'Secret')));
  });

  test('a Work is not a tenant’s to write', async () => {
    const metadata = { namespace: 'asterism-cluster-birch', name: 'mine' };
    const work = {
      apiVersion: API_VERSION,
      kind: 'Work',
      metadata,
      spec: { manifests: [configMap('default', 'mine')] },
    } as const;
    await assert.rejects(eve.resource(WORKS).create(work as never), (error) => isStatusError(error, 'Forbidden'));
    if (form === 'embedded') {
      const writing = stage.admin.resource(WORKS).create(work as never);
      await assert.rejects(writing, (error) => isStatusError(error, 'Forbidden') && /only the hub/.test(error.message));
    }
  });

  test('what was placed is removed with the right, and comes back with it', async () => {
    const ref = { namespace: 'team-tom', name: 'settings' };
    const bindings = stage.admin.resource(CLUSTER_ROLE_BINDINGS);
    const { roleRef, subjects = [] } = await bindings.get({ name: 'for-tom' });
    await bindings.delete({ name: 'for-tom' });
    await untilGone(stage.member('alder'), CONFIG_MAPS, ref, 20_000);
    const { spec } = await bindingOf('team-tom', 'settings-configmap', (it) => it.spec.unschedulable !== undefined);
    assert.match(spec.unschedulable?.message ?? '', /by NotPermitted \(.*"tom".* needs verb place/);
    await bindings.create({ metadata: { name: 'for-tom' }, roleRef, subjects });
    await until(stage.member('alder'), CONFIG_MAPS, ref, () => true, { timeoutMs: 20_000 });
  });
}
