import { createHash, randomUUID } from 'node:crypto';
import { parseProxyUrl } from '@asterism/client';
import type { KubeObject, Secret } from '@asterism/machinery';
import {
  AGENT_BOOTSTRAP_SECRET,
  AGENT_PROXY_SECRET,
  AGENT_SERVICE_ACCOUNT,
  type Cluster,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';
import { madeByJoin, memberManifests } from '../access/member-manifests.ts';
import type { Permissions } from '../access/permissions.ts';
import { isPublicKeyPin } from '../connect/public-key-pin.ts';
import type { Destinations } from '../../reach/agent-target.ts';
import type { ReachMode } from '../../reach/reach-mode.ts';
import type { RegistrationFacts } from '../registration/request-registration.ts';

export interface AgentManifestsOptions {
  clusterName: string;
  syncMode: Cluster['spec']['syncMode'];
  hub: {
    /** `https://host:port`, as it is reached from a pod. */
    server: string;
    /** A pin (`sha256:…`) or PEM. */
    ca: string;
    /** Undefined where the cluster has joined before and only its agent is put in again. */
    token?: string | undefined;
  };
  image: string;
  /** Rights of the account that acts in the member. Default: the profile `platform`. */
  permissions?: Permissions | undefined;
  /** Push: where the hub finds this API server. The second is PEM. */
  endpoint?: { server: string; caBundle?: string | undefined } | undefined;
  description?: RegistrationFacts | undefined;
  /** Pull and Dual: what callers of the hub may do here at most. Default: all that RBAC lets them. */
  reachMode?: ReachMode | undefined;
  /** Pull and Dual: to what callers of the hub get through the agent, beside the API server. */
  destinations?: Destinations | undefined;
  /** The proxy through which the agent reaches the hub; with a password it goes into a Secret of its own. */
  proxy?: string | undefined;
  /** The pod shares its node's network, as where a hub is reached by way of the node alone. Default false. */
  hostNetwork?: boolean | undefined;
}

/** The agent's Deployment, and the label of its pods. */
export const AGENT_DEPLOYMENT = 'asterism-agent';
export const AGENT_POD_LABELS = { 'app.kubernetes.io/name': AGENT_DEPLOYMENT };
/** On those pods: another one for other contents of the Secrets that they read, once, when they start. */
export const SECRETS_CHECKSUM_ANNOTATION = 'asterism.dev/secrets-checksum';

/** Where the agent's probes are answered, in the pod. */
const PROBE_PORT = 8081;
/** Where the Secret {@link AGENT_BOOTSTRAP_SECRET} is mounted. */
const MOUNT = '/var/run/asterism';
/** Nobody's on the nodes, and what `deploy/agent/Dockerfile` names too. */
const USER = 65_532;

/**
 * All that a member needs to join by itself, in the order in which it is applied: what {@link memberManifests} says, what the
 * agent asks to join with, and the agent as a pod.
 *
 * What the agent keeps (its key, its certificate) is in a Secret that it makes itself, so the Deployment has no volume and can
 * be replaced at any time. The token is in a Secret and nowhere else; it may be deleted once the cluster has joined. The password
 * of a proxy is in another. Applied again with other contents of these, the pod is made anew.
 */
export function agentManifests(options: AgentManifestsOptions): KubeObject[] {
  const secrets = [bootstrapSecret(options), ...proxySecret(options.proxy)];
  const checksum = secretsChecksum(options, secrets);
  return [...memberManifests(options), ...secrets, madeByJoin(deployment(options, checksum))];
}

/**
 * Many may read a Deployment, few a Secret: a password that can be guessed is never hashed without something that cannot. That is the
 * token; where there is none it is drawn, so that then the pod is made anew each time.
 */
function secretsChecksum({ hub, proxy }: AgentManifestsOptions, secrets: Secret[]): string {
  const drawn = hub.token === undefined && holdsPassword(proxy) ? [randomUUID()] : [];
  const contents = [...secrets.map(({ stringData }) => stringData), ...drawn];
  return createHash('sha256').update(JSON.stringify(contents)).digest('hex');
}

function bootstrapSecret({ hub, endpoint, destinations }: AgentManifestsOptions): Secret {
  const stringData = {
    ...(hub.token === undefined ? {} : { token: hub.token }),
    ...(isPublicKeyPin(hub.ca) ? {} : { 'ca.crt': hub.ca }),
    ...(endpoint?.caBundle === undefined ? {} : { 'endpoint-ca.crt': endpoint.caBundle }),
    ...(destinations?.caData === undefined ? {} : { 'destination-ca.crt': destinations.caData }),
  };
  return madeByJoin({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: AGENT_BOOTSTRAP_SECRET, namespace: SYSTEM_NAMESPACE },
    type: 'Opaque',
    stringData,
  });
}

/** What `aster` is called with in the pod. */
function agentArguments(options: AgentManifestsOptions): string[] {
  const { clusterName, syncMode, hub, endpoint, description = {}, reachMode, destinations } = options;
  const { provider, region, zones, labels } = description;
  const given: [flag: string, value: string | undefined][] = [
    ['name', clusterName],
    ['mode', syncMode.toLowerCase()],
    ['hub', hub.server],
    ['hub-ca', isPublicKeyPin(hub.ca) ? hub.ca : `${MOUNT}/ca.crt`],
    ['token-file', `${MOUNT}/token`],
    ['endpoint', endpoint?.server],
    ['endpoint-ca', endpoint?.caBundle === undefined ? undefined : `${MOUNT}/endpoint-ca.crt`],
    ['reach', reachMode],
    ...(destinations?.origins ?? []).map((origin): [string, string] => ['allow-destination', origin]),
    ['destination-ca', destinations?.caData === undefined ? undefined : `${MOUNT}/destination-ca.crt`],
    ['provider', provider],
    ['region', region],
    ['zones', zones?.join(',')],
    ['labels', labels && listed(labels)],
    ['probe-listen', `0.0.0.0:${PROBE_PORT}`],
  ];
  return ['agent', ...given.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}=${value}`]))];
}

function listed(labels: Record<string, string>): string | undefined {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? undefined : pairs.join(',');
}

function deployment(options: AgentManifestsOptions, checksum: string): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: AGENT_DEPLOYMENT, namespace: SYSTEM_NAMESPACE, labels: AGENT_POD_LABELS },
    spec: {
      replicas: 1,
      // Two agents of one cluster would take the tunnel from each other.
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 2,
      selector: { matchLabels: AGENT_POD_LABELS },
      template: {
        metadata: { labels: AGENT_POD_LABELS, annotations: { [SECRETS_CHECKSUM_ANNOTATION]: checksum } },
        spec: podSpec(options),
      },
    },
  };
}

function podSpec(options: AgentManifestsOptions): object {
  const { hostNetwork = false } = options;
  return {
    serviceAccountName: AGENT_SERVICE_ACCOUNT,
    enableServiceLinks: false,
    ...(hostNetwork ? { hostNetwork, dnsPolicy: 'ClusterFirstWithHostNet' } : {}),
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(options)],
    volumes: [
      // Optional: once the cluster has joined it may be gone.
      { name: 'bootstrap', secret: { secretName: AGENT_BOOTSTRAP_SECRET, defaultMode: 0o440, optional: true } },
      { name: 'tmp', emptyDir: {} },
    ],
  };
}

function container(options: AgentManifestsOptions): object {
  const probe = (path: string) => ({ httpGet: { path, port: PROBE_PORT } });
  return {
    name: 'agent',
    image: options.image,
    imagePullPolicy: 'IfNotPresent',
    args: agentArguments(options),
    env: [{ name: 'HOME', value: '/tmp' }, ...proxyVariables(options.proxy)],
    ports: [{ name: 'probes', containerPort: PROBE_PORT }],
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    // Its last words say why it cannot join.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'bootstrap', mountPath: MOUNT, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

const PROXY_VARIABLE = 'HTTPS_PROXY';

/** Its own API server is not reached by way of the proxy. Many may read a Deployment, few a Secret. */
function proxyVariables(proxy: string | undefined): object[] {
  if (proxy === undefined) return [];
  const secret = { secretKeyRef: { name: AGENT_PROXY_SECRET, key: PROXY_VARIABLE } };
  return [
    { name: PROXY_VARIABLE, ...(holdsPassword(proxy) ? { valueFrom: secret } : { value: proxy }) },
    { name: 'NO_PROXY', value: '$(KUBERNETES_SERVICE_HOST)' },
  ];
}

function proxySecret(proxy: string | undefined): Secret[] {
  if (proxy === undefined || !holdsPassword(proxy)) return [];
  return [
    madeByJoin({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: AGENT_PROXY_SECRET, namespace: SYSTEM_NAMESPACE },
      type: 'Opaque',
      stringData: { [PROXY_VARIABLE]: proxy },
    }),
  ];
}

function holdsPassword(proxy: string | undefined): boolean {
  return proxy !== undefined && parseProxyUrl(proxy).authorization !== undefined;
}
