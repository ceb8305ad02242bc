import type { KubeObject } from '@asterism/machinery';
import { containerOf, metadataOf, REPLICAS, syntheticPod } from './synthetic-pod.ts';
import { digitsOf, timeOf, uidOf } from './synthetic-text.ts';

type Body = (number: number, app: string) => object;

const template: Body = (_, app) => ({
  metadata: { labels: { app, 'app.kubernetes.io/name': app } },
  spec: {
    containers: [containerOf('web', app, 'token'), containerOf('proxy', app, 'token')],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
});
const conditions = (number: number, ...types: string[]): object[] =>
  types.map((type) => ({
    type,
    status: 'True',
    lastUpdateTime: timeOf(number),
    lastTransitionTime: timeOf(number),
    reason: 'AsExpected',
    message: `${type} since the last rollout.`,
  }));
const workload: Body = (number, app) => ({
  spec: { replicas: 3, selector: { matchLabels: { app } }, template: template(number, app), revisionHistoryLimit: 10 },
  status: {
    observedGeneration: 3,
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    updatedReplicas: 3,
    conditions: conditions(number, 'Available', 'Progressing'),
  },
});
const subject = (app: string) => ({ kind: 'ServiceAccount', name: app, namespace: 'shop' });

/** The kinds of the mixed set, by `apiVersion/kind`. */
const KINDS: Readonly<Record<string, Body>> = {
  'v1/Pod': () => ({}),
  'apps/v1/Deployment': workload,
  'apps/v1/ReplicaSet': workload,
  'apps/v1/StatefulSet': workload,
  'apps/v1/DaemonSet': workload,
  'batch/v1/Job': (number, app) => ({
    spec: { parallelism: 1, completions: 1, backoffLimit: 6, template: template(number, app) },
    status: { startTime: timeOf(number), completionTime: timeOf(number + 60), succeeded: 1 },
  }),
  'batch/v1/CronJob': (number, app) => ({
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: template(number, app) } } },
    status: { lastScheduleTime: timeOf(number) },
  }),
  'v1/Service': (number, app) => ({
    spec: {
      clusterIP: `10.96.${(number >> 8) & 255}.${number & 255}`,
      clusterIPs: [`10.96.${(number >> 8) & 255}.${number & 255}`],
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }],
      selector: { app },
      sessionAffinity: 'None',
      type: 'ClusterIP',
    },
    status: { loadBalancer: {} },
  }),
  'discovery.k8s.io/v1/EndpointSlice': (number) => ({
    addressType: 'IPv4',
    endpoints: Array.from({ length: 3 }, (_, index) => ({
      addresses: [`10.${index + 1}.${(number >> 8) & 255}.${number & 255}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${(number + index) % 200}`,
      targetRef: { kind: 'Pod', namespace: 'shop', name: `pod-${number}-${index}`, uid: uidOf(number * 3 + index) },
    })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  }),
  'v1/ConfigMap': (number) => ({
    data: { 'app.yaml': `level: info\nid: ${digitsOf(number, 600)}\n`, region: 'eu-west-1' },
  }),
  'v1/Secret': (number) => ({ type: 'Opaque', data: { password: digitsOf(number, 400), user: 'YWRtaW4=' } }),
  'v1/ServiceAccount': () => ({ automountServiceAccountToken: true, secrets: [] }),
  'rbac.authorization.k8s.io/v1/Role': () => ({
    rules: [
      { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
    ],
  }),
  'rbac.authorization.k8s.io/v1/RoleBinding': (_, app) => ({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: app },
    subjects: [subject(app)],
  }),
  'v1/Node': (number) => ({
    spec: { podCIDR: `10.${number & 255}.0.0/24`, providerID: `aws:///eu-west-1a/i-${digitsOf(number, 17)}` },
    status: {
      capacity: { cpu: '16', memory: '65843152Ki', pods: '110' },
      allocatable: { cpu: '15890m', memory: '63843152Ki', pods: '110' },
      conditions: conditions(number, 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'),
      nodeInfo: { kubeletVersion: 'v1.36.1', osImage: 'Talos (v1.12.0)', machineID: digitsOf(number, 32) },
      images: Array.from({ length: 20 }, (_, index) => ({
        names: [`registry.example.com/team/app-${index}@sha256:${digitsOf(index, 64)}`],
        sizeBytes: 10_000_000 + index,
      })),
    },
  }),
  'v1/PersistentVolumeClaim': (number) => ({
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '10Gi' } },
      storageClassName: 'standard',
      volumeMode: 'Filesystem',
      volumeName: `pvc-${uidOf(number)}`,
    },
    status: { accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' }, phase: 'Bound' },
  }),
  'networking.k8s.io/v1/Ingress': (number, app) => ({
    spec: {
      ingressClassName: 'nginx',
      rules: [
        {
          host: `${app}-${number}.example.com`,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: app, port: { name: 'http' } } } }],
          },
        },
      ],
      tls: [{ hosts: [`${app}-${number}.example.com`], secretName: `${app}-tls` }],
    },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.10' }] } },
  }),
  'autoscaling/v2/HorizontalPodAutoscaler': (number, app) => ({
    spec: {
      minReplicas: 2,
      maxReplicas: 10,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: app },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
      ],
    },
    status: { currentReplicas: 3, desiredReplicas: 3, conditions: conditions(number, 'AbleToScale', 'ScalingActive') },
  }),
  'coordination.k8s.io/v1/Lease': (number) => ({
    spec: { holderIdentity: `node-${number}`, leaseDurationSeconds: 40, renewTime: timeOf(number) },
  }),
  'policy/v1/PodDisruptionBudget': (number, app) => ({
    spec: { minAvailable: 1, selector: { matchLabels: { app } } },
    status: {
      currentHealthy: 3,
      desiredHealthy: 1,
      disruptionsAllowed: 2,
      conditions: conditions(number, 'DisruptionAllowed'),
    },
  }),
};
const NAMES = Object.keys(KINDS);

/** As many objects of each of 20 kinds, in turn by {@link REPLICAS}; an app has some of every kind. */
export function syntheticMix(number: number): KubeObject {
  const group = Math.floor(number / REPLICAS);
  const name = NAMES[group % NAMES.length] as string;
  if (name === 'v1/Pod') return syntheticPod(number);
  const app = `app-${group % 40}`;
  const at = name.lastIndexOf('/');
  return {
    kind: name.slice(at + 1),
    apiVersion: name.slice(0, at),
    metadata: metadataOf(number, app, app),
    ...(KINDS[name] as Body)(number, app),
  };
}
