import { join } from 'node:path';
import { type Agent, runAgent } from '@asterism/agent';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { AGENT_SERVICE_ACCOUNT, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import type { KubeObject } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import type { TestFleet } from '../../../packages/hub/src/testing/test-fleet.ts';
import { runAster } from '../../cluster/aster.ts';
import { ControlPlane } from '../../cluster/control-plane.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';

/** A real control plane that is joined by the manifests that `aster agent manifests` prints, and the account that they make. */
export class ProfiledMember implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  /** As the account `asterism-agent`. */
  readonly account: Client;
  readonly #connection: Connection;
  readonly #kubectl: Kubectl;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    controlPlane: ControlPlane,
    more: { kubectl: Kubectl; connection: Connection; parts: AsyncDisposableStack },
  ) {
    this.controlPlane = controlPlane;
    this.#kubectl = more.kubectl;
    this.#connection = more.connection;
    this.#parts = more.parts;
    this.account = this.client(more.connection);
  }

  static async start(...flags: string[]): Promise<ProfiledMember> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    const controlPlane = parts.use(await ControlPlane.start(run, { name: 'edge' }));
    const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), controlPlane.kubeconfig, join(run.path, 'kubectl'));
    await applyManifests(kubectl, flags);
    const account = ['--namespace', SYSTEM_NAMESPACE, AGENT_SERVICE_ACCOUNT];
    const token = (await kubectl.run(['create', 'token', '--duration=1h', ...account])).trim();
    const { server, pki } = controlPlane;
    const connection = { server, caData: pki.ca.cert, credential: { kind: 'token' as const, token } };
    return new ProfiledMember(controlPlane, { kubectl, connection, parts: parts.move() });
  }

  /** As an administrator does who changes the profile. */
  async change(...flags: string[]): Promise<void> {
    await applyManifests(this.#kubectl, flags);
  }

  kubectl(...args: string[]): Promise<string> {
    return this.#kubectl.run(args);
  }

  client(connection: Connection): Client {
    return createClient({ transport: this.#parts.use(createTransport(connection)), userAgent: 'test' });
  }

  /** Joins in Pull. Resolves when the cluster is ready. */
  async join(fleet: TestFleet, clusterName: string): Promise<Agent> {
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const agent = this.#parts.use(
      runAgent({
        clusterName,
        syncMode: 'Pull',
        hub: { server: fleet.hub.url, ca: fleet.hub.caPin, token },
        member: this.#connection,
        logger: silentLogger,
        timing: { heartbeatMs: 1_000, statusPauseMs: 0, statusSettleMs: 5, retryMs: 20, retryCapMs: 100 },
      }),
    );
    await agent.ready;
    return agent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

async function applyManifests(kubectl: Kubectl, flags: readonly string[]): Promise<void> {
  const manifests = await runAster(['agent', 'manifests', '--mode', 'pull', ...flags]);
  await kubectl.run(['apply', '-f', '-'], { stdin: manifests });
}

const RBAC = 'rbac.authorization.k8s.io/v1';
const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
const account = { kind: 'ServiceAccount', name: AGENT_SERVICE_ACCOUNT, namespace: SYSTEM_NAMESPACE };
const boundTo = (role: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role });
const podAs = (namespace: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'thief', namespace },
  spec: { serviceAccountName: 'clusterrole-aggregation-controller', containers: [{ name: 'c', image: 'i' }] },
});

export interface Attack {
  name: string;
  method: string;
  path: string;
  body?: object;
  contentType?: string;
  headers?: Record<string, string>;
}

const MERGE = 'application/merge-patch+json';
const ROLES = '/apis/rbac.authorization.k8s.io/v1';

/** Ways of the account `asterism-agent` to more rights. The first ones are those of the review. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'a token of a controller',
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/serviceaccounts/clusterrole-aggregation-controller/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  },
  ...['asterism:agent', 'asterism:callers', 'asterism:workloads'].map((role) => ({
    name: `other rules for ${role}`,
    method: 'PATCH',
    path: `${ROLES}/clusterroles/${role}`,
    body: { rules: everything },
    contentType: MERGE,
  })),
  {
    name: 'a binding of cluster-admin',
    method: 'POST',
    path: `${ROLES}/clusterrolebindings`,
    body: {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'thief' },
      roleRef: boundTo('cluster-admin'),
      subjects: [account],
    },
  },
  ...['shop', 'kube-system'].map((namespace) => ({
    name: `a binding of cluster-admin in ${namespace}`,
    method: 'POST',
    path: `${ROLES}/namespaces/${namespace}/rolebindings`,
    body: {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata: { name: 'thief', namespace },
      roleRef: boundTo('cluster-admin'),
      subjects: [account],
    },
  })),
  {
    name: 'its own right to workloads, in kube-system',
    method: 'POST',
    path: `${ROLES}/namespaces/kube-system/rolebindings`,
    body: {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata: { name: 'asterism:workloads', namespace: 'kube-system' },
      roleRef: boundTo('asterism:workloads'),
      subjects: [account],
    },
  },
  {
    name: 'a pod as a controller',
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/pods',
    body: podAs('kube-system'),
  },
  { name: 'Secrets of kube-system', method: 'GET', path: '/api/v1/namespaces/kube-system/secrets' },
  { name: 'Secrets of all namespaces', method: 'GET', path: '/api/v1/secrets?labelSelector=asterism.dev/managed' },
  {
    name: 'a command in a pod',
    method: 'POST',
    path: '/api/v1/namespaces/shop/pods/web/exec?command=sh&stdout=true',
  },
  { name: 'an attached pod', method: 'POST', path: '/api/v1/namespaces/shop/pods/web/attach?stdout=true' },
  { name: 'a forwarded port', method: 'POST', path: '/api/v1/namespaces/shop/pods/web/portforward' },
  { name: 'the proxy of a node', method: 'GET', path: '/api/v1/nodes/n1/proxy/pods' },
  {
    name: 'an administrator’s name',
    method: 'GET',
    path: '/api/v1/namespaces',
    headers: { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
  },
  {
    name: 'a controller’s name',
    method: 'GET',
    path: '/api/v1/secrets',
    headers: { 'impersonate-user': 'system:kube-controller-manager' },
  },
  {
    name: 'a namespace of its own',
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } },
  },
  {
    name: 'a webhook that sees every Secret',
    method: 'POST',
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'thief' },
      webhooks: [],
    },
  },
  {
    name: 'the approval of a certificate',
    method: 'PUT',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval',
    body: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'x' },
      spec: {},
    },
  },
];
