import type { FieldsV1, KubeObject } from '@asterism/machinery';
import { digitsOf, timeOf, uidOf } from './synthetic-text.ts';

/** Pods of one ReplicaSet. */
export const REPLICAS = 50;
const PORTS: Readonly<Record<string, number>> = { web: 8080, proxy: 15001 };

/**
 * A pod of two containers as a server sends it: about 9 KB of JSON, of which `managedFields` are a third. So many in a row are of
 * one ReplicaSet; names, UIDs, times, addresses, container IDs and the volume of the service account's token are each pod's own.
 */
export function syntheticPod(number: number): KubeObject {
  const set = Math.floor(number / REPLICAS);
  const app = `app-${set % 40}`;
  const replicaSet = `${app}-${digitsOf(set, 10)}`;
  const token = `kube-api-access-${digitsOf(number + 1_000_000, 5)}`;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: metadataOf(number, app, replicaSet),
    spec: {
      volumes: [{ name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } }, tokenVolume(token)],
      containers: Object.keys(PORTS).map((name) => containerOf(name, app, token)),
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: app,
      serviceAccount: app,
      nodeName: `node-${number % 200}`,
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: ['not-ready', 'unreachable'].map((condition) => ({
        key: `node.kubernetes.io/${condition}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: statusOf(number, app),
  };
}

/** Of any object of a controller, with `managedFields` of a usual size. */
export function metadataOf(number: number, app: string, owner: string): NonNullable<KubeObject['metadata']> {
  const time = timeOf(number);
  const entry = { operation: 'Update' as const, apiVersion: 'v1', time, fieldsType: 'FieldsV1' as const };
  const set = Math.floor(number / REPLICAS);
  return {
    name: `${owner}-${digitsOf(number + 2_000_000, 5)}`,
    generateName: `${owner}-`,
    namespace: `team-${number % 20}`,
    uid: uidOf(number),
    resourceVersion: String(1_000_000 + number),
    creationTimestamp: time,
    labels: {
      app,
      'app.kubernetes.io/name': app,
      'app.kubernetes.io/part-of': 'shop',
      'pod-template-hash': owner.slice(-10),
      tier: 'web',
    },
    annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080', 'checksum/config': digitsOf(set, 64) },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: owner,
        uid: uidOf(set + 3_000_000),
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: [
      { ...entry, manager: 'kube-controller-manager', fieldsV1: { 'f:metadata': fields(6), 'f:spec': fields(26) } },
      { ...entry, manager: 'kubelet', fieldsV1: { 'f:status': fields(10) }, subresource: 'status' },
    ],
  };
}

export function containerOf(name: string, app: string, token: string): object {
  const port = PORTS[name] ?? 80;
  const probe = (path: string, periodSeconds: number) => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds,
    successThreshold: 1,
    failureThreshold: 3,
  });
  const field = (variable: string, fieldPath: string) => ({
    name: variable,
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
  });
  return {
    name,
    image: imageOf(name, app),
    args: ['--config=/etc/config/app.yaml', '--log-level=info', `--listen=:${port}`],
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    env: [
      field('POD_NAME', 'metadata.name'),
      field('POD_IP', 'status.podIP'),
      ...['LOG_LEVEL', 'REGION', 'CACHE_URL', 'QUEUE_URL', 'DATABASE_HOST'].map((variable) => ({
        name: variable,
        value: `${variable.toLowerCase()}.${app}.svc.cluster.local:5432`,
      })),
    ],
    resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/config' },
      { name: token, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    livenessProbe: probe('/healthz', 10),
    readinessProbe: probe('/readyz', 5),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: {
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    },
  };
}

function statusOf(number: number, app: string): object {
  const time = timeOf(number);
  const hostIP = `10.0.0.${number % 200}`;
  const podIP = `10.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: 'Running',
    conditions: conditions.map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: time,
    })),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: time,
    containerStatuses: Object.keys(PORTS).map((name) => ({
      name,
      state: { running: { startedAt: time } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: imageOf(name, app),
      imageID: `${imageOf(name, app)}@sha256:${digitsOf(app.length + name.length, 64)}`,
      containerID: `containerd://${digitsOf(number + name.length * 4_000_000, 64)}`,
      started: true,
    })),
    qosClass: 'Burstable',
  };
}

function tokenVolume(name: string): object {
  const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
  ];
  return { name, projected: { sources, defaultMode: 420 } };
}

const imageOf = (name: string, app: string): string => `registry.example.com/team/${app}-${name}:v1.4.2`;

function fields(count: number): FieldsV1 {
  const member = (index: number): FieldsV1 => ({ '.': {}, [`k:{"name":"x${index}"}`]: { 'f:value': {} } });
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f:field${index}`, member(index)]));
}
