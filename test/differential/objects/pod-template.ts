import type { Choices } from '../choices.ts';
import type { Fields } from './generated-kind.ts';

const IMAGES = [
  'nginx',
  'nginx:1.27',
  'nginx:latest',
  'registry.example.com/team/app:v2',
  'busybox@sha256:0123456789012345678901234567890123456789012345678901234567890123',
];
const CPU = ['100m', '0.1', '1', '1500m', '2.5'];
const MEMORY = ['64Mi', '128Mi', '1Gi', '1073741824', '1500M'];

/** A `spec` of a pod template that leaves much to defaults, and a `metadata` with the labels. */
export function makeTemplate(choices: Choices, labels: Record<string, string>, policy?: string): Fields {
  return { metadata: { labels }, spec: makePodSpec(choices, policy) };
}

export function makePodSpec(choices: Choices, restartPolicy?: string): Fields {
  const volumes = makeVolumes(choices);
  const containers = choices.times(1, 2, (index) => makeContainer(choices, `c${index}`, volumes));
  return {
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
    ...(volumes.length > 0 ? { volumes } : {}),
    ...choices.maybe(() => ({ initContainers: [makeContainer(choices, 'init', volumes, false)] }), 0.2),
    containers,
    ...choices.maybe(() => ({ terminationGracePeriodSeconds: choices.int(0, 90) }), 0.3),
    ...choices.maybe(() => ({ nodeSelector: { disk: choices.pick(['ssd', 'hdd']) } }), 0.3),
    ...choices.maybe(() => ({ tolerations: makeTolerations(choices) }), 0.3),
    ...choices.maybe(() => ({ hostAliases: [{ ip: '10.1.2.3', hostnames: ['a.example', 'b.example'] }] }), 0.2),
    ...choices.maybe(() => ({ imagePullSecrets: [{ name: 'pull' }] }), 0.2),
    ...choices.maybe(
      () => ({
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['192.0.2.1'], options: [{ name: 'ndots', value: '2' }] },
      }),
      0.2,
    ),
    ...choices.maybe(
      () => ({ securityContext: { runAsUser: 1000, runAsNonRoot: true, fsGroup: 2000, supplementalGroups: [3000] } }),
      0.3,
    ),
    ...choices.maybe(() => ({ affinity: makeAffinity(choices) }), 0.2),
    ...choices.maybe(() => ({ hostname: 'box', subdomain: 'sub' }), 0.1),
    ...choices.maybe(() => ({ shareProcessNamespace: choices.chance(0.5) }), 0.1),
    ...choices.maybe(() => ({ automountServiceAccountToken: false }), 0.1),
    ...choices.maybe(
      () => ({
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { a: 'b' } },
          },
        ],
      }),
      0.1,
    ),
  };
}

function makeContainer(choices: Choices, name: string, volumes: readonly Fields[], probes = true): Fields {
  const mounts = choices.some(volumes).map((volume) => ({
    name: volume['name'],
    mountPath: `/mnt/${String(volume['name'])}`,
    ...choices.maybe(() => ({ readOnly: true }), 0.3),
    ...choices.maybe(() => ({ subPath: 'part' }), 0.2),
  }));
  return {
    name,
    image: choices.pick(IMAGES),
    ...choices.maybe(() => ({ imagePullPolicy: choices.pick(['Always', 'Never', 'IfNotPresent']) }), 0.2),
    ...choices.maybe(() => ({ command: ['sh', '-c'], args: ['sleep 1'] }), 0.3),
    ...choices.maybe(() => ({ env: makeEnvironment(choices) })),
    ...choices.maybe(
      () => ({
        envFrom: [
          { configMapRef: { name: 'settings' } },
          { prefix: 'S_', secretRef: { name: 'keys', optional: true } },
        ],
      }),
      0.2,
    ),
    ...choices.maybe(() => ({ ports: makePorts(choices) })),
    ...choices.maybe(() => ({ resources: makeResources(choices) })),
    ...(mounts.length > 0 ? { volumeMounts: mounts } : {}),
    ...(probes ? makeProbes(choices) : {}),
    ...choices.maybe(
      () => ({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
        },
      }),
      0.2,
    ),
    ...choices.maybe(() => ({ workingDir: '/tmp', tty: true, stdin: true }), 0.1),
    ...choices.maybe(() => ({ terminationMessagePolicy: 'FallbackToLogsOnError' }), 0.1),
  };
}

function makePorts(choices: Choices): Fields[] {
  return choices.some([80, 443, 8080]).map((containerPort) => ({
    containerPort,
    ...choices.maybe(() => ({ name: `p${containerPort}` })),
    ...choices.maybe(() => ({ protocol: choices.pick(['TCP', 'UDP']) })),
  }));
}

function makeEnvironment(choices: Choices): Fields[] {
  const all: Fields[] = [
    { name: 'PLAIN', value: choices.pick(['x', '', '$(OTHER)']) },
    { name: 'NOTHING' },
    {
      name: 'POD',
      valueFrom: { fieldRef: { fieldPath: choices.pick(['metadata.name', "metadata.labels['a']", 'status.podIP']) } },
    },
    { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } },
    { name: 'SETTING', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k', optional: true } } },
    { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
  ];
  return choices.shuffled(choices.some(all));
}

function makeResources(choices: Choices): Fields {
  const requests = { ...choices.maybe(() => ({ cpu: '50m' })), ...choices.maybe(() => ({ memory: '32Mi' })) };
  const limits = {
    ...choices.maybe(() => ({ cpu: choices.pick(CPU) })),
    ...choices.maybe(() => ({ memory: choices.pick(MEMORY) })),
  };
  return { ...choices.maybe(() => ({ requests })), ...choices.maybe(() => ({ limits }), 0.7) };
}

function makeProbes(choices: Choices): Fields {
  const action = (): Fields =>
    choices.pick<Fields>([
      { httpGet: { port: 80 } },
      { httpGet: { path: '/ready', port: 'web', scheme: 'HTTPS', httpHeaders: [{ name: 'X', value: 'y' }] } },
      { tcpSocket: { port: 5432 } },
      { exec: { command: ['true'] } },
    ]);
  return {
    ...choices.maybe(
      () => ({
        livenessProbe: { ...action(), ...choices.maybe(() => ({ initialDelaySeconds: 5, timeoutSeconds: 3 })) },
      }),
      0.3,
    ),
    ...choices.maybe(
      () => ({ readinessProbe: { ...action(), ...choices.maybe(() => ({ successThreshold: 2, periodSeconds: 20 })) } }),
      0.3,
    ),
    ...choices.maybe(() => ({ startupProbe: action() }), 0.1),
    ...choices.maybe(
      () => ({ lifecycle: { preStop: { exec: { command: ['sync'] } }, postStart: { httpGet: { port: 80 } } } }),
      0.1,
    ),
  };
}

function makeVolumes(choices: Choices): Fields[] {
  return choices.some<Fields>([
    { name: 'scratch', emptyDir: choices.pick<Fields>([{}, { medium: 'Memory', sizeLimit: '64Mi' }]) },
    {
      name: 'settings',
      configMap: { name: 'settings', ...choices.maybe(() => ({ items: [{ key: 'a', path: 'b' }], defaultMode: 256 })) },
    },
    { name: 'keys', secret: { secretName: 'keys', ...choices.maybe(() => ({ optional: true })) } },
    { name: 'host', hostPath: { path: '/var', ...choices.maybe(() => ({ type: 'Directory' })) } },
    { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'all',
      projected: {
        sources: [{ secret: { name: 'keys' } }, { configMap: { name: 'settings' } }],
      },
    },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'shared', nfs: { server: 'nfs.example', path: '/x' } },
  ]);
}

function makeTolerations(choices: Choices): Fields[] {
  return choices.some<Fields>([
    { key: 'a', operator: 'Exists' },
    { key: 'b', value: 'c', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
    { operator: 'Exists', effect: 'PreferNoSchedule' },
  ]);
}

function makeAffinity(choices: Choices): Fields {
  const labelSelector = { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] };
  return {
    ...choices.maybe(() => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['z'] }] }],
        },
      },
    })),
    ...choices.maybe(() => ({
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 50, podAffinityTerm: { topologyKey: 'host', labelSelector } },
        ],
      },
    })),
  };
}
