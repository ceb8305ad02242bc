import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isStatusError, type KubeObject } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';

const CONTAINER = { name: 'app', image: 'nginx:1.27' };
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [CONTAINER] } };
const DEFAULT_CONTAINER = {
  ...CONTAINER,
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};
const DEFAULT_POD_SPEC = {
  containers: [DEFAULT_CONTAINER],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};
const DEFAULT_TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: DEFAULT_POD_SPEC };
const SELECTOR = { matchLabels: { app: 'web' } };
const tolerate = (key: string): object => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });

/** What Kubernetes 1.36 makes of the smallest object: name, place, what is written, what is read (without metadata). */
const DEFAULTS: readonly (readonly [string, KubeObject, KubeObject])[] = [
  ['v1/configmaps', { data: { a: '1' } }, { data: { a: '1' } }],
  ['v1/secrets', { stringData: { k: 'v' } }, { data: { k: 'dg==' }, type: 'Opaque' }],
  ['v1/serviceaccounts', {}, {}],
  [
    'v1/pods',
    { spec: { containers: [CONTAINER] } },
    {
      spec: {
        ...DEFAULT_POD_SPEC,
        tolerations: [tolerate('node.kubernetes.io/not-ready'), tolerate('node.kubernetes.io/unreachable')],
        priority: 0,
        enableServiceLinks: true,
        preemptionPolicy: 'PreemptLowerPriority',
      },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    },
  ],
  [
    'apps/v1/deployments',
    { spec: { selector: SELECTOR, template: TEMPLATE } },
    {
      spec: {
        replicas: 1,
        selector: SELECTOR,
        template: DEFAULT_TEMPLATE,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
      status: {},
    },
  ],
  [
    'apps/v1/replicasets',
    { spec: { selector: SELECTOR, template: TEMPLATE } },
    { spec: { replicas: 1, selector: SELECTOR, template: DEFAULT_TEMPLATE }, status: { replicas: 0 } },
  ],
  [
    'apps/v1/statefulsets',
    { spec: { serviceName: 'web', selector: SELECTOR, template: TEMPLATE } },
    {
      spec: {
        replicas: 1,
        selector: SELECTOR,
        template: DEFAULT_TEMPLATE,
        serviceName: 'web',
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      },
      status: { replicas: 0, availableReplicas: 0 },
    },
  ],
  [
    'apps/v1/daemonsets',
    { spec: { selector: SELECTOR, template: TEMPLATE } },
    {
      spec: {
        selector: SELECTOR,
        template: DEFAULT_TEMPLATE,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        revisionHistoryLimit: 10,
      },
      status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    },
  ],
  [
    'batch/v1/cronjobs',
    {
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: { spec: { template: { spec: { containers: [CONTAINER], restartPolicy: 'OnFailure' } } } },
      },
    },
    {
      spec: {
        schedule: '*/5 * * * *',
        concurrencyPolicy: 'Allow',
        suspend: false,
        jobTemplate: {
          metadata: {},
          spec: { template: { metadata: {}, spec: { ...DEFAULT_POD_SPEC, restartPolicy: 'OnFailure' } } },
        },
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
      status: {},
    },
  ],
  [
    'networking.k8s.io/v1/networkpolicies',
    { spec: { podSelector: {} } },
    { spec: { podSelector: {}, policyTypes: ['Ingress'] } },
  ],
  [
    'v1/persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1000M' } } } },
    {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1G' } }, volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  ],
  [
    'rbac.authorization.k8s.io/v1/rolebindings',
    { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] },
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' }],
    },
  ],
  ['scheduling.k8s.io/v1/priorityclasses', { value: 5 }, { value: 5, preemptionPolicy: 'PreemptLowerPriority' }],
];

describe('defaults of built-in kinds', () => {
  for (const [place, written, read] of DEFAULTS) {
    test(place, async () => {
      await using t = await openTestRegistry();
      const { metadata, kind, apiVersion, ...rest } = await t.create(place, { metadata: { name: 'x' }, ...written });
      assert.ok(metadata?.uid && kind && apiVersion);
      assert.deepEqual(rest, read);
    });
  }

  test('a node may be created with its status, a pod may not', async () => {
    await using t = await openTestRegistry();
    const capacity = { cpu: '4' };
    const node = await t.create('v1/nodes', { metadata: { name: 'n' }, status: { capacity } });
    assert.deepEqual((node.status as { capacity: object }).capacity, capacity);
    const pod = { metadata: { name: 'p' }, spec: { containers: [CONTAINER] }, status: { phase: 'Running' } };
    assert.deepEqual((await t.create('v1/pods', pod)).status, { phase: 'Pending', qosClass: 'BestEffort' });
  });

  test('a job selects its own pods', async () => {
    await using t = await openTestRegistry();
    const template = { spec: { containers: [CONTAINER], restartPolicy: 'Never' } };
    const job = await t.create('batch/v1/jobs', { metadata: { name: 'j' }, spec: { template } });
    const uid = job.metadata?.uid;
    const spec = job.spec as {
      selector: { matchLabels: object };
      template: { metadata: { labels: object } };
      completions: number;
    };
    assert.deepEqual(spec.selector.matchLabels, { 'batch.kubernetes.io/controller-uid': uid });
    assert.deepEqual(spec.template.metadata.labels, {
      'controller-uid': uid,
      'job-name': 'j',
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': 'j',
    });
    assert.equal(spec.completions, 1);
  });

  test('a job without labels has those of its pods, and one with labels its own', async () => {
    await using t = await openTestRegistry();
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [CONTAINER], restartPolicy: 'Never' },
    };
    for (const [name, labels, shares] of [
      ['none', undefined, true],
      ['empty', {}, true],
      ['equal', { app: 'x' }, false],
    ] as const) {
      const job = await t.create('batch/v1/jobs', {
        metadata: { name, ...(labels && { labels }) },
        spec: { template },
      });
      const ofPods = (job.spec as { template: { metadata: { labels: object } } }).template.metadata.labels;
      assert.ok('controller-uid' in ofPods && 'app' in ofPods);
      assert.deepEqual(job.metadata?.labels, shares ? ofPods : { app: 'x' }, name);
    }
  });

  test('the image decides whether it is pulled again', async () => {
    await using t = await openTestRegistry();
    const images = ['a', 'a:latest', 'a:1', 'host:5000/a', 'host:5000/a:1', 'a@sha256:0', 'a:latest@sha256:0'];
    const containers = images.map((image, index) => ({ name: `c${index}`, image }));
    const pod = (await t.create('v1/pods', { metadata: { name: 'p' }, spec: { containers } })) as {
      spec?: { containers: { imagePullPolicy: string }[] };
    };
    assert.deepEqual(
      pod.spec?.containers.map(({ imagePullPolicy }) => imagePullPolicy),
      ['Always', 'Always', 'IfNotPresent', 'Always', 'IfNotPresent', 'IfNotPresent', 'IfNotPresent'],
    );
  });
});

/** What is refused, and how Kubernetes 1.36 says it. */
const REFUSED: readonly (readonly [string, string, KubeObject, RegExp])[] = [
  [
    'a selector that does not match',
    'apps/v1/deployments',
    { spec: { selector: { matchLabels: { a: 'b' } }, template: TEMPLATE } },
    /spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`/,
  ],
  ['no selector', 'apps/v1/deployments', { spec: { template: TEMPLATE } }, /spec.selector: Required value/],
  [
    'negative replicas',
    'apps/v1/deployments',
    { spec: { selector: SELECTOR, template: TEMPLATE, replicas: -1 } },
    /spec.replicas: Invalid value: -1: must be greater than or equal to 0/,
  ],
  [
    'a restart policy that a workload cannot have',
    'apps/v1/deployments',
    { spec: { selector: SELECTOR, template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } } },
    /spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"/,
  ],
  ['no containers', 'v1/pods', { spec: { containers: [] } }, /spec.containers: Required value/],
  [
    'two containers of one name',
    'v1/pods',
    { spec: { containers: [CONTAINER, CONTAINER] } },
    /spec.containers\[1\].name: Duplicate value: "app"/,
  ],
  [
    'a mount of nothing',
    'v1/pods',
    { spec: { containers: [{ ...CONTAINER, volumeMounts: [{ name: 'v', mountPath: '/x' }] }] } },
    /spec.containers\[0\].volumeMounts\[0\].name: Not found: "v"/,
  ],
  [
    'a type of service that is none',
    'v1/services',
    { spec: { type: 'Nope', ports: [{ port: 80 }] } },
    /spec.type: Unsupported value: "Nope": supported values: /,
  ],
  [
    'a key of a config map that is no file name',
    'v1/configmaps',
    { data: { 'a/b': 'x' } },
    /data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/,
  ],
  [
    'a quantity that is none',
    'v1/persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: 'much' } } } },
    /quantities must match the regular expression/,
  ],
  [
    'a role without verbs',
    'rbac.authorization.k8s.io/v1/roles',
    { rules: [{ apiGroups: [''], resources: ['pods'] }] },
    /rules\[0\].verbs: Required value/,
  ],
  [
    'a time that is none',
    'coordination.k8s.io/v1/leases',
    { spec: { renewTime: 'yesterday' } },
    /parsing time "yesterday"/,
  ],
];

/** Changes that are refused: place, first object, change, words. */
const IMMUTABLE: readonly (readonly [string, KubeObject, object, RegExp])[] = [
  [
    'apps/v1/deployments',
    { spec: { selector: SELECTOR, template: TEMPLATE } },
    {
      spec: { selector: { matchLabels: { app: 'web', more: 'x' } }, template: { metadata: { labels: { more: 'x' } } } },
    },
    /spec.selector: Invalid value: .*: field is immutable/,
  ],
  ['v1/secrets', { type: 'Opaque' }, { type: 'other' }, /type: Invalid value: "other": field is immutable/],
  [
    'v1/configmaps',
    { immutable: true, data: { a: '1' } },
    { data: { a: '2' } },
    /data: Forbidden: field is immutable when `immutable` is set/,
  ],
  [
    'v1/pods',
    { spec: { containers: [CONTAINER] } },
    { spec: { hostname: 'x' } },
    /spec: Forbidden: pod updates may not change fields other than/,
  ],
  [
    'rbac.authorization.k8s.io/v1/rolebindings',
    { roleRef: { kind: 'Role', name: 'r' } },
    { roleRef: { name: 'other' } },
    /cannot change roleRef/,
  ],
  [
    'v1/services',
    { spec: { ports: [{ port: 80 }] } },
    { spec: { clusterIP: '10.96.9.9' } },
    /spec.clusterIPs\[0\]: Invalid value: .*: may not change once set/,
  ],
];

describe('validation of built-in kinds', () => {
  for (const [what, place, object, words] of REFUSED) {
    test(`refuses ${what}`, async () => {
      await using t = await openTestRegistry();
      const error = await t.create(place, { metadata: { name: 'x' }, ...object }).catch((caught: unknown) => caught);
      assert.ok(isStatusError(error), 'it was not refused');
      assert.match(error.message, words);
    });
  }

  for (const [place, first, change, words] of IMMUTABLE) {
    test(`some fields of ${place} stay as they are`, async () => {
      await using t = await openTestRegistry();
      await t.create(place, { metadata: { name: 'x' }, ...first });
      const ref = { namespace: 'default', name: 'x' };
      const patched = t.registry.patch(t.resource(place), ref, { type: 'merge', body: change }, t.context());
      await assert.rejects(patched, words);
    });
  }
});
