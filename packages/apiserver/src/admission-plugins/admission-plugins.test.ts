import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry, patch, refused } from '../compose/testing/test-registry.ts';
import { checkAdmissionPlugins } from './plugin-names.ts';

function pod(spec: object = {}, metadata: object = {}, container: object = {}): KubeObject {
  return {
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'app', image: 'nginx:1.27', ...container }], ...spec },
  };
}

function claim(spec: object = {}, metadata: object = {}): KubeObject {
  const resources = { requests: { storage: '1Gi' } };
  return { metadata: { name: 'c', ...metadata }, spec: { accessModes: ['ReadWriteOnce'], resources, ...spec } };
}

type SpecView = Record<string, never> & {
  containers: { resources: unknown; volumeMounts?: { name: string; mountPath: string }[]; imagePullPolicy: string }[];
  volumes?: { name: string; projected?: { sources: object[] } }[];
  tolerations: { key?: string; operator?: string }[];
};
const specOf = (object: KubeObject): SpecView => object.spec as SpecView;

describe('what plugins give new objects', () => {
  const MADE: {
    name: string;
    there?: [place: string, object: KubeObject][];
    place: string;
    object: KubeObject;
    enable?: string[];
    gives(object: KubeObject): unknown;
    expected: unknown;
  }[] = [
    {
      name: 'DefaultStorageClass: a claim gets the newest default class, of as old ones the first by name',
      there: ['b', 'a', 'z'].map((name): [string, KubeObject] => [
        'storage.k8s.io/v1/storageclasses',
        {
          metadata: {
            name,
            annotations: { 'storageclass.kubernetes.io/is-default-class': String(name !== 'z') },
          },
          provisioner: 'x.io/y',
        },
      ]),
      place: 'v1/persistentvolumeclaims',
      object: claim(),
      gives: (object) => specOf(object).storageClassName,
      expected: 'a',
    },
    {
      name: 'DefaultStorageClass: the empty class is a class',
      there: [
        [
          'storage.k8s.io/v1/storageclasses',
          {
            metadata: { name: 'a', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
            provisioner: 'x.io/y',
          },
        ],
      ],
      place: 'v1/persistentvolumeclaims',
      object: claim({ storageClassName: '' }),
      gives: (object) => specOf(object).storageClassName,
      expected: '',
    },
    {
      name: 'DefaultIngressClass: an Ingress gets the default class',
      there: [
        [
          'networking.k8s.io/v1/ingressclasses',
          {
            metadata: { name: 'front', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
            spec: { controller: 'x.io/y' },
          },
        ],
      ],
      place: 'networking.k8s.io/v1/ingresses',
      object: { metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
      gives: (object) => specOf(object).ingressClassName,
      expected: 'front',
    },
    {
      name: 'StorageObjectInUseProtection: a claim is held by its finalizer',
      place: 'v1/persistentvolumeclaims',
      object: claim(),
      gives: (object) => object.metadata?.finalizers,
      expected: ['kubernetes.io/pvc-protection'],
    },
    {
      name: 'TaintNodesByCondition: a node is not ready yet',
      place: 'v1/nodes',
      object: { metadata: { name: 'n' } },
      gives: (object) => specOf(object).taints,
      expected: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
    },
    {
      name: 'DefaultTolerationSeconds: what a pod says itself stays',
      place: 'v1/pods',
      object: pod({ tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }] }),
      gives: (object) => specOf(object).tolerations,
      expected: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    },
    {
      name: 'PodTopologyLabels: a pod on a node has its region and zone',
      there: [
        [
          'v1/nodes',
          {
            metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/rack': 'r' } },
          },
        ],
      ],
      place: 'v1/pods',
      object: pod({ nodeName: 'n' }, { labels: { 'topology.kubernetes.io/zone': 'own', app: 'a' } }),
      gives: (object) => object.metadata?.labels,
      expected: { 'topology.kubernetes.io/zone': 'z', app: 'a' },
    },
    {
      name: 'LimitRanger: defaults, told by an annotation, before the quality of service is known',
      there: [
        [
          'v1/limitranges',
          {
            metadata: { name: 'lr' },
            spec: {
              limits: [{ type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }],
            },
          },
        ],
      ],
      place: 'v1/pods',
      object: pod({ initContainers: [{ name: 'init', image: 'i', resources: { requests: { cpu: '5m' } } }] }),
      gives: ({ metadata, spec, status }) => ({
        told: metadata?.annotations?.['kubernetes.io/limit-ranger'],
        resources: (spec as SpecView).containers[0]?.resources,
        qosClass: (status as { qosClass: string }).qosClass,
      }),
      expected: {
        told: 'LimitRanger plugin set: cpu, memory request for container app; cpu, memory limit for container app; memory request for init container init; cpu, memory limit for init container init',
        resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } },
        qosClass: 'Burstable',
      },
    },
    {
      name: 'AlwaysPullImages, where it is enabled',
      enable: ['AlwaysPullImages'],
      place: 'v1/pods',
      object: pod(),
      gives: (object) => specOf(object).containers[0]?.imagePullPolicy,
      expected: 'Always',
    },
    {
      name: 'ExtendedResourceToleration, where it is enabled',
      enable: ['ExtendedResourceToleration'],
      place: 'v1/pods',
      object: pod({}, {}, { resources: { limits: { 'example.com/gpu': '1', cpu: '1' } } }),
      gives: (object) => specOf(object).tolerations.at(-1),
      expected: { key: 'example.com/gpu', operator: 'Exists' },
    },
  ];
  for (const { name, there = [], place, object, enable = [], gives, expected } of MADE) {
    test(name, async () => {
      await using t = await openTestRegistry({ admissionPlugins: { disable: ['ServiceAccount'], enable } });
      for (const [at, each] of there) await t.create(at, each);
      assert.deepEqual(gives(await t.create(place, object)), expected);
    });
  }

  test('a plugin that is disabled gives nothing', async () => {
    const disable = ['ServiceAccount', 'DefaultTolerationSeconds', 'Priority', 'StorageObjectInUseProtection'];
    await using t = await openTestRegistry({ admissionPlugins: { disable } });
    const { tolerations, priority } = specOf(await t.create('v1/pods', pod({ priorityClassName: 'unknown' })));
    assert.deepEqual({ tolerations, priority }, { tolerations: undefined, priority: undefined });
    assert.equal((await t.create('v1/persistentvolumeclaims', claim())).metadata?.finalizers, undefined);
  });

  test('binding gives the labels of the node', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/nodes', { metadata: { name: 'n', labels: { 'topology.kubernetes.io/region': 'r' } } });
    await t.create('v1/pods', pod());
    const target = { target: { kind: 'Node', name: 'n' }, metadata: { name: 'p' } };
    await t.create('v1/pods', target, { name: 'p', subresource: 'binding' });
    assert.deepEqual((await t.get('v1/pods', 'p')).metadata?.labels, { 'topology.kubernetes.io/region': 'r' });
  });
});

describe('what plugins refuse', () => {
  const limits = (spec: object): [string, KubeObject][] => [
    ['v1/limitranges', { metadata: { name: 'lr' }, spec: { limits: [spec] } }],
  ];
  const asked = (requests: object, most: object): KubeObject => pod({}, {}, { resources: { requests, limits: most } });
  const REFUSED: { name: string; there?: [string, KubeObject][]; place?: string; object: KubeObject; why: string }[] = [
    {
      name: 'less than the least',
      there: limits({ type: 'Container', min: { cpu: '100m' } }),
      object: asked({ cpu: '50m' }, { cpu: '60m' }),
      why: 'minimum cpu usage per Container is 100m, but request is 50m',
    },
    {
      name: 'nothing where there is a least',
      there: limits({ type: 'Pod', min: { memory: '1Mi' } }),
      object: pod(),
      why: 'minimum memory usage per Pod is 1Mi.  No request is specified',
    },
    {
      name: 'more than the most in all, counted with what starts before',
      there: limits({ type: 'Pod', max: { cpu: '1' } }),
      object: pod(
        { initContainers: [{ name: 'i', image: 'i', resources: { limits: { cpu: '1500m' } } }] },
        {},
        { resources: { limits: { cpu: '1' } } },
      ),
      why: 'maximum cpu usage per Pod is 1, but limit is 1500m',
    },
    {
      name: 'a ratio without a request',
      there: limits({ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }),
      object: asked({ cpu: '0' }, { cpu: '1' }),
      why: 'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    },
    {
      name: 'several at once',
      there: limits({ type: 'Container', max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '1500m' } }),
      object: asked({ cpu: '1' }, { cpu: '2' }),
      why: '[maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000]',
    },
    {
      name: 'a claim that is too large',
      there: limits({ type: 'PersistentVolumeClaim', max: { storage: '500Mi' } }),
      place: 'v1/persistentvolumeclaims',
      object: claim({}, { name: 'p' }),
      why: 'maximum storage usage per PersistentVolumeClaim is 500Mi, but request is 1Gi',
    },
    {
      name: 'an unknown PriorityClass',
      object: pod({ priorityClassName: 'none' }),
      why: 'no PriorityClass with name none was found',
    },
    {
      name: 'an unknown RuntimeClass',
      object: pod({ runtimeClassName: 'none' }),
      why: 'pod rejected: RuntimeClass "none" not found',
    },
  ];
  for (const { name, there = [], place = 'v1/pods', object, why } of REFUSED) {
    test(name, async () => {
      await using t = await openTestRegistry();
      for (const [at, each] of there) await t.create(at, each);
      const resource = place.split('/').at(-1);
      await refused(t.create(place, object), 403, `${resource} "p" is forbidden: ${why}`);
    });
  }

  test('a name that is not generated yet is shown as far as it is known', async () => {
    await using t = await openTestRegistry();
    const { spec } = pod({ priorityClassName: 'none' });
    const object = { metadata: { generateName: 'web-' }, spec };
    await refused(t.create('v1/pods', object), 403, /^pods "web-" is forbidden/);
  });

  test('a claim grows only where its class says so', async () => {
    await using t = await openTestRegistry();
    for (const name of ['rigid', 'elastic']) {
      const allowVolumeExpansion = name === 'elastic';
      await t.create('storage.k8s.io/v1/storageclasses', {
        metadata: { name },
        provisioner: 'x.io/y',
        allowVolumeExpansion,
      });
      await t.create('v1/persistentvolumeclaims', claim({ storageClassName: name, volumeName: 'v' }, { name }));
      await patch(t, 'v1/persistentvolumeclaims', name, { status: { phase: 'Bound' } }, 'merge', {
        subresource: 'status',
      });
    }
    const grow = (name: string) =>
      patch(t, 'v1/persistentvolumeclaims', name, { spec: { resources: { requests: { storage: '2Gi' } } } });
    await refused(
      grow('rigid'),
      403,
      'persistentvolumeclaims "rigid" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
    assert.equal((await grow('elastic')).created, false);
  });

  test('DenyServiceExternalIPs, where it is enabled: what is there may stay', async () => {
    await using t = await openTestRegistry({
      admissionPlugins: { disable: ['ServiceAccount'], enable: ['DenyServiceExternalIPs'] },
    });
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], externalIPs: ['1.2.3.4'] } };
    await refused(t.create('v1/services', service), 403, /Use of external IPs is denied by admission control/);
  });

  test('the PriorityClasses of the system are not deleted', async () => {
    await using t = await openTestRegistry();
    const place = 'scheduling.k8s.io/v1/priorityclasses';
    await t.create(place, { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 });
    await refused(
      t.registry.delete(t.resource(place), { name: 'system-node-critical' }, {}, t.context()),
      403,
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    );
  });
});

describe('the choice of plugins', () => {
  const CHOICES: { name: string; choice: { enable?: string[]; disable?: string[] }; fault?: RegExp }[] = [
    { name: 'what is there', choice: { enable: ['AlwaysPullImages'], disable: ['ServiceAccount', 'PodSecurity'] } },
    {
      name: 'a name of nothing',
      choice: { disable: ['LimitRange'] },
      fault: /there are no admission plugins LimitRange: /,
    },
    {
      name: 'both',
      choice: { enable: ['Priority'], disable: ['Priority'] },
      fault: /both enabled and disabled: Priority/,
    },
    { name: 'what is not here', choice: { enable: ['EventRateLimit'] }, fault: /does not have .* EventRateLimit/ },
    {
      name: 'what is always on',
      choice: { disable: ['NamespaceLifecycle'] },
      fault: /cannot do without .* NamespaceLifecycle/,
    },
  ];
  for (const { name, choice, fault } of CHOICES) {
    test(name, () => {
      if (fault) assert.throws(() => checkAdmissionPlugins(choice), { name: 'TypeError', message: fault });
      else checkAdmissionPlugins(choice);
    });
  }
});
