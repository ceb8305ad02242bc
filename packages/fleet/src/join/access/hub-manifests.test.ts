import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  type Deployment,
  DEPLOYMENTS,
  isStatusError,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
  SECRETS,
} from '@asterism/machinery';
import {
  CALLERS_CONFIG_MAP,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_REGISTRATIONS,
  CLUSTERS,
  clusterNamespace,
  REGISTER_GROUP,
  RESOURCE_BINDINGS,
} from '../../api/index.ts';
import { deployment } from '../../place/testing/build.ts';
import { askToLeave } from '../leave/ask-to-leave.ts';
import { HUB, JoinedFleet } from '../testing/joined-fleet.ts';

const RBAC = 'rbac.authorization.k8s.io';
const WEB = { namespace: 'demo', name: 'web' };

/** `verb group/resource[/subresource] [namespace/]name`; the core group is `core`. */
type Attempt = `${string} ${string}/${string}`;

const both: { may: Attempt[]; not: Attempt[] } = {
  may: [
    'get core/secrets asterism-cluster-a/hub-credential',
    'list core/secrets hub-credential',
    'create core/namespaces demo',
    'watch certificates.k8s.io/certificatesigningrequests any',
    'update certificates.k8s.io/certificatesigningrequests/approval edge-1',
    'watch asterism.dev/hubconfigurations any',
    'update asterism.dev/hubconfigurations/status hub',
    'patch asterism.dev/propagationpolicies/status demo/web',
    'delete asterism.dev/clusterregistrations edge-1',
    'approve certificates.k8s.io/signers kubernetes.io/kube-apiserver-client',
    'create apiextensions.k8s.io/customresourcedefinitions works.asterism.dev',
    'patch apiextensions.k8s.io/customresourcedefinitions works.asterism.dev',
    'create apiregistration.k8s.io/apiservices v1alpha1.proxy.asterism.dev',
    'update apiregistration.k8s.io/apiservices v1alpha1.search.asterism.dev',
    'create core/services asterism-system/asterism-hub',
    'patch core/services asterism-system/asterism-hub',
    'update core/endpoints asterism-system/asterism-hub',
    'create core/configmaps asterism-system/templates',
    'watch core/configmaps callers',
    'patch core/configmaps asterism-cluster-a/callers',
    'get core/configmaps asterism-system/templates',
    'update coordination.k8s.io/leases asterism-system/asterism-hub',
    'watch apiregistration.k8s.io/apiservices v1alpha1.proxy.asterism.dev',
    'watch core/services asterism-system/asterism-hub',
    'delete core/configmaps asterism-system/templates',
    'watch core/configmaps kube-system/extension-apiserver-authentication',
    'create authentication.k8s.io/tokenreviews any',
    'create authorization.k8s.io/subjectaccessreviews any',
  ],
  not: [
    'create core/pods default/p',
    'create core/pods/exec default/p',
    'create core/serviceaccounts/token kube-system/default',
    'create apps/deployments default/d',
    'update apps/deployments default/d',
    'delete core/namespaces demo',
    'delete core/secrets asterism-cluster-a/hub-credential',
    'update core/secrets kube-system/bootstrap-token-abcdef',
    'update core/configmaps kube-system/extension-apiserver-authentication',
    'update core/services default/kubernetes',
    'update coordination.k8s.io/leases kube-system/kube-controller-manager',
    'approve certificates.k8s.io/signers kubernetes.io/kubelet-serving',
    'approve certificates.k8s.io/signers kubernetes.io/kube-apiserver-client-kubelet',
    'sign certificates.k8s.io/signers kubernetes.io/kube-apiserver-client',
    'patch apiextensions.k8s.io/customresourcedefinitions others.example.com',
    'delete apiextensions.k8s.io/customresourcedefinitions works.asterism.dev',
    'update apiregistration.k8s.io/apiservices v1.apps',
    'delete apiregistration.k8s.io/apiservices v1alpha1.proxy.asterism.dev',
    `escalate ${RBAC}/clusterroles cluster-admin`,
    `bind ${RBAC}/clusterroles cluster-admin`,
    `delete ${RBAC}/clusterroles view`,
    'delete asterism.dev/clusters edge-1',
    'create asterism.dev/clusterregistrations edge-1',
    'update asterism.dev/clusterregistrations edge-1',
    'create asterism.dev/hubconfigurations hub',
    'update asterism.dev/hubconfigurations hub',
    'update certificates.k8s.io/certificatesigningrequests/status edge-1',
    'delete certificates.k8s.io/certificatesigningrequests edge-1',
    'update asterism.dev/clusterpropagationpolicies all',
    'create proxy.asterism.dev/clusters/proxy edge-1',
  ],
};

const forms: Record<'host' | 'embedded', { may: Attempt[]; not: Attempt[] }> = {
  host: {
    may: ['list core/secrets demo/any', 'watch example.com/widgets demo/any', 'patch apps/deployments/status demo/web'],
    not: ['patch apps/deployments demo/web', 'update apps/deployments/status demo/web', 'impersonate core/users ann'],
  },
  embedded: {
    may: ['impersonate core/users ann', 'impersonate core/groups team', 'impersonate core/serviceaccounts demo/robot'],
    not: [
      'get core/secrets kube-system/any',
      'get core/secrets asterism-cluster-a/any',
      'list core/secrets any',
      'list core/pods any',
      'get apps/deployments demo/web',
      'patch apps/deployments/status demo/web',
      'get core/nodes any',
    ],
  },
};

for (const form of ['host', 'embedded'] as const) {
  describe(`the account of a hub with templates ${form === 'host' ? 'in the host' : 'of its own'}`, () => {
    let fleet: JoinedFleet;
    before(async () => {
      fleet = await JoinedFleet.start(form);
    });
    after(() => fleet[Symbol.asyncDispose]());

    test('is enough to let a cluster in, to place there, to tell the status, and to let it go', async () => {
      const { host, templates, member } = fleet;
      await fleet.join('edge-1');
      await templates.client.resource(NAMESPACES).create({ metadata: { name: 'demo' } });
      await host.client.resource(CLUSTER_PROPAGATION_POLICIES).create({
        apiVersion: 'asterism.dev/v1alpha1',
        kind: 'ClusterPropagationPolicy',
        metadata: { name: 'all' },
        spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], propagateDeps: true },
      });
      await fleet.create<KubeObject>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...WEB, name: 'conf' } });
      await fleet.create(web);
      await untilObject(member.client, DEPLOYMENTS, WEB, (object) => object?.spec?.replicas === 2);
      const callers = { namespace: clusterNamespace('edge-1'), name: CALLERS_CONFIG_MAP };
      await untilObject(host.client, CONFIG_MAPS, callers, (map) => map !== undefined);
      await untilObject(member.client, CONFIG_MAPS, { ...WEB, name: 'conf' }, (object) => object !== undefined);
      const value = { observedGeneration: 1, replicas: 2, readyReplicas: 2 };
      const body = [{ op: 'add', path: '/status', value }];
      await member.client.resource(DEPLOYMENTS).patch(WEB, { type: 'json', body }, { subresource: 'status' });
      await untilObject(templates.client, DEPLOYMENTS, WEB, (object) => object?.status?.readyReplicas === 2);
      await templates.client.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { replicas: 3 } } });
      await untilObject(member.client, DEPLOYMENTS, WEB, (object) => object?.spec?.replicas === 3);
      await templates.client.resource(DEPLOYMENTS).delete(WEB);
      await untilObject(member.client, DEPLOYMENTS, WEB, (object) => object === undefined);
      const ref = { namespace: 'demo', name: 'web-deployment' };
      await untilObject(host.client, RESOURCE_BINDINGS, ref, (binding) => binding === undefined);
      await fleet.leave('edge-1');
      assert.deepEqual(fleet.forbidden, []);
    });

    test('is enough to put right what somebody has changed', async () => {
      const { client } = fleet.host;
      await fleet.join('edge-2');
      const role = { name: 'asterism:agent:edge-2' };
      const { rules } = await client.resource(CLUSTER_ROLES).get(role);
      await client.resource(CLUSTER_ROLES).patch(role, { type: 'merge', body: { rules: [] } });
      await untilObject(client, CLUSTER_ROLES, role, (object) => object?.rules?.length === rules?.length);
      const namespace = clusterNamespace('edge-2');
      await client.resource(SECRETS).delete({ namespace, name: 'hub-credential' });
      await untilObject(client, SECRETS, { namespace, name: 'hub-credential' }, (object) => object !== undefined);
      const taints = [{ key: 'asterism.dev/unreachable', effect: 'NoSchedule' }];
      await client.resource(CLUSTERS).patch({ name: 'edge-2' }, { type: 'merge', body: { spec: { taints } } });
      assert.deepEqual(fleet.forbidden, []);
    });

    test('is enough to let a cluster leave in order, with all that it had', async () => {
      const { client } = fleet.host;
      await fleet.join('edge-3');
      await askToLeave(client, await client.resource(CLUSTERS).get({ name: 'edge-3' }), 'Keep');
      await untilObject(client, CLUSTERS, { name: 'edge-3' }, (cluster) => cluster === undefined);
      await untilObject(client, CLUSTER_REGISTRATIONS, { name: 'edge-3-request' }, (request) => request === undefined);
      await untilObject(
        client,
        NAMESPACES,
        { name: clusterNamespace('edge-3') },
        (namespace) => namespace === undefined,
      );
      assert.deepEqual(fleet.forbidden, []);
    });

    for (const attempt of [...both.may, ...forms[form].may]) {
      test(`may ${attempt}`, async () => assert.equal(await isAllowed(fleet.host.client, attempt), true));
    }
    for (const attempt of [...both.not, ...forms[form].not]) {
      test(`may not ${attempt}`, async () => assert.equal(await isAllowed(fleet.host.client, attempt), false));
    }

    test('stands beside a token’s right to ask, which lists nothing', async () => {
      const user = { username: 'system:bootstrap:abcdef', groups: [REGISTER_GROUP, 'system:authenticated'] };
      const { client } = fleet.host;
      assert.equal(await isAllowed(client, 'create asterism.dev/clusterregistrations any', user), true);
      assert.equal(await isAllowed(client, 'list asterism.dev/clusterregistrations any', user), false);
      const approval: Attempt = 'update certificates.k8s.io/certificatesigningrequests/approval any';
      assert.equal(await isAllowed(client, approval, user), false);
    });

    test('gives nobody more than it has', async () => {
      const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
      const role = fleet.hub.resource(CLUSTER_ROLES).create({ metadata: { name: 'more' }, rules });
      await assert.rejects(role, (error) => isStatusError(error, 'Forbidden'));
      const binding = fleet.hub.resource(CLUSTER_ROLE_BINDINGS).create({
        metadata: { name: 'more' },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', namespace: 'asterism-system', name: 'asterism-hub' }],
      });
      await assert.rejects(binding, (error) => isStatusError(error, 'Forbidden'));
    });
  });
}

const { uid: _, ...metadata } = deployment(2).metadata ?? {};
const web = {
  ...deployment(2, { podSpec: { volumes: [{ name: 'conf', configMap: { name: 'conf' } }] } }),
  metadata,
} as Deployment;

const REVIEWS: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};

async function isAllowed(client: Client, attempt: Attempt, user = HUB): Promise<boolean> {
  const [verb = '', what = '', object = ''] = attempt.split(' ');
  const [group, resource, subresource = ''] = what.split('/');
  // A signer's name has a slash, and no namespace.
  const slash = resource === 'signers' ? -1 : object.indexOf('/');
  const resourceAttributes = {
    verb,
    group: group === 'core' ? '' : group,
    resource,
    subresource,
    ...(slash < 0 ? {} : { namespace: object.slice(0, slash) }),
    name: object.slice(slash + 1),
  };
  const spec = { user: user.username, groups: user.groups, resourceAttributes };
  const review: KubeObject = await client.resource(REVIEWS).create({ spec });
  return (review['status'] as { allowed: boolean }).allowed;
}
