import type { Choices } from '../choices.ts';
import type { FieldChange, Fields, GeneratedKind } from './generated-kind.ts';
import { makePodSpec, makeTemplate } from './pod-template.ts';

const SELECTED = { app: 'web' };

/** What makes the containers at `at` (`spec.template.spec` and the like) invalid. */
function invalidContainers(at: string): Record<string, FieldChange> {
  return {
    'no containers': [`${at}.containers`, []],
    'container without name': [`${at}.containers.0.name`, undefined],
    'container name in capitals': [`${at}.containers.0.name`, 'App'],
    'no image': [`${at}.containers.0.image`, undefined],
    'port out of range': [`${at}.containers.0.ports`, [{ containerPort: 70_000 }]],
    'port name too long': [`${at}.containers.0.ports`, [{ containerPort: 80, name: 'sixteen-characters' }]],
    'env name': [`${at}.containers.0.env`, [{ name: '' }]],
    'two sources of an env': [
      `${at}.containers.0.env`,
      [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ],
    'mount of no volume': [`${at}.containers.0.volumeMounts`, [{ name: 'nowhere', mountPath: '/x' }]],
    'request over limit': [`${at}.containers.0.resources`, { requests: { cpu: '2' }, limits: { cpu: '1' } }],
    'negative memory': [`${at}.containers.0.resources`, { limits: { memory: '-1Gi' } }],
    'pull policy': [`${at}.containers.0.imagePullPolicy`, 'Sometimes'],
    'volume without name': [`${at}.volumes`, [{ emptyDir: {} }]],
    'two sources of a volume': [`${at}.volumes`, [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }]],
    'dns policy': [`${at}.dnsPolicy`, 'Maybe'],
    'two volumes of a name': [
      `${at}.volumes`,
      [
        { name: 'v', emptyDir: {} },
        { name: 'v', emptyDir: {} },
      ],
    ],
    'toleration operator': [`${at}.tolerations`, [{ key: 'a', operator: 'Like', value: 'x' }]],
  };
}

function replicated(choices: Choices): Fields {
  return {
    ...choices.maybe(() => ({ replicas: choices.int(0, 5) })),
    ...choices.maybe(() => ({ minReadySeconds: choices.int(0, 30) }), 0.3),
  };
}

const selecting = (choices: Choices): Fields => ({
  selector: choices.chance(0.7)
    ? { matchLabels: SELECTED }
    : { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] },
  template: makeTemplate(choices, { ...SELECTED, ...choices.maybe(() => ({ extra: 'x' })) }),
});

const NEGATIVE_REPLICAS: FieldChange = ['spec.replicas', -1];
const OTHER_LABELS: FieldChange = ['spec.template.metadata.labels', { app: 'other' }];
const OTHER_SELECTOR: FieldChange = [
  'spec.selector',
  { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'app', operator: 'Exists' }] },
];
const LABELLED: FieldChange = ['metadata.labels', { changed: 'yes' }];
const OTHER_IMAGE: FieldChange = ['spec.template.spec.containers.0.image', 'nginx:2'];

/** Kinds that run pods. */
export const WORKLOADS: readonly GeneratedKind[] = [
  {
    kind: 'Pod',
    apiVersion: 'v1',
    resource: 'pods',
    namespaced: true,
    make: (choices) => ({ spec: makePodSpec(choices, choices.pick([undefined, 'Always', 'OnFailure', 'Never'])) }),
    changes: [LABELLED, ['spec.containers.0.image', 'nginx:2'], ['metadata.annotations', { note: 'x' }]],
    invalid: { ...invalidContainers('spec'), 'restart policy': ['spec.restartPolicy', 'Sometimes'] },
    immutable: {
      'container name': ['spec.containers.0.name', 'other'],
      'restart policy': ['spec.dnsPolicy', 'Default'],
    },
    status: { status: { phase: 'Running', podIP: '192.0.2.7', conditions: [{ type: 'Ready', status: 'True' }] } },
  },
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    resource: 'deployments',
    namespaced: true,
    make: (choices) => ({
      spec: {
        ...replicated(choices),
        ...selecting(choices),
        ...choices.maybe(() => ({
          strategy: choices.pick<Fields>([
            { type: 'Recreate' },
            { rollingUpdate: { maxSurge: 1 } },
            { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } },
          ]),
        })),
        ...choices.maybe(() => ({ revisionHistoryLimit: choices.int(0, 5) }), 0.3),
        ...choices.maybe(() => ({ paused: true }), 0.1),
      },
    }),
    changes: [LABELLED, OTHER_IMAGE, ['spec.replicas', 7]],
    invalid: {
      ...invalidContainers('spec.template.spec'),
      'negative replicas': NEGATIVE_REPLICAS,
      'selector of other labels': OTHER_LABELS,
      'no selector': ['spec.selector', undefined],
      'empty selector': ['spec.selector', {}],
      'both zero': ['spec.strategy', { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }],
      'strategy type': ['spec.strategy', { type: 'Sudden' }],
      'recreate with rolling update': ['spec.strategy', { type: 'Recreate', rollingUpdate: { maxSurge: 1 } }],
      'percent over 100': ['spec.strategy', { rollingUpdate: { maxUnavailable: '150%' } }],
      'restart policy': ['spec.template.spec.restartPolicy', 'Never'],
    },
    immutable: { selector: OTHER_SELECTOR },
    status: { status: { replicas: 2, readyReplicas: 1, observedGeneration: 1 } },
    scale: true,
  },
  {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    resource: 'replicasets',
    namespaced: true,
    make: (choices) => ({ spec: { ...replicated(choices), ...selecting(choices) } }),
    changes: [LABELLED, OTHER_IMAGE, ['spec.replicas', 7]],
    invalid: {
      'negative replicas': NEGATIVE_REPLICAS,
      'selector of other labels': OTHER_LABELS,
      'no selector': ['spec.selector', undefined],
      'restart policy': ['spec.template.spec.restartPolicy', 'OnFailure'],
      ...invalidContainers('spec.template.spec'),
    },
    immutable: { selector: OTHER_SELECTOR },
    status: { status: { replicas: 2, fullyLabeledReplicas: 2 } },
    scale: true,
  },
  {
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    resource: 'statefulsets',
    namespaced: true,
    make: (choices) => ({
      spec: {
        serviceName: 'db',
        ...choices.maybe(() => ({ replicas: choices.int(0, 5) })),
        ...selecting(choices),
        ...choices.maybe(() => ({ podManagementPolicy: 'Parallel' })),
        ...choices.maybe(() => ({
          updateStrategy: choices.pick<Fields>([{ type: 'OnDelete' }, { rollingUpdate: { partition: 2 } }]),
        })),
        ...choices.maybe(() => ({
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        })),
      },
    }),
    changes: [LABELLED, OTHER_IMAGE, ['spec.replicas', 7]],
    invalid: {
      'negative replicas': NEGATIVE_REPLICAS,
      'selector of other labels': OTHER_LABELS,
      'no selector': ['spec.selector', undefined],
      'update strategy': ['spec.updateStrategy', { type: 'Sudden' }],
      'management policy': ['spec.podManagementPolicy', 'Random'],
      'negative partition': ['spec.updateStrategy', { type: 'RollingUpdate', rollingUpdate: { partition: -1 } }],
    },
    immutable: { 'service name': ['spec.serviceName', 'other'], selector: OTHER_SELECTOR },
    status: { status: { replicas: 2, readyReplicas: 1 } },
    scale: true,
  },
  {
    kind: 'DaemonSet',
    apiVersion: 'apps/v1',
    resource: 'daemonsets',
    namespaced: true,
    make: (choices) => ({
      spec: {
        ...selecting(choices),
        ...choices.maybe(() => ({
          updateStrategy: choices.pick<Fields>([{ type: 'OnDelete' }, { rollingUpdate: { maxUnavailable: '10%' } }]),
        })),
        ...choices.maybe(() => ({ revisionHistoryLimit: 3, minReadySeconds: 2 }), 0.3),
      },
    }),
    changes: [LABELLED, OTHER_IMAGE],
    invalid: {
      'selector of other labels': OTHER_LABELS,
      'no selector': ['spec.selector', undefined],
      'update strategy': ['spec.updateStrategy', { type: 'Sudden' }],
      'negative history': ['spec.revisionHistoryLimit', -1],
      'restart policy': ['spec.template.spec.restartPolicy', 'Never'],
    },
    immutable: { selector: OTHER_SELECTOR },
    status: { status: { currentNumberScheduled: 1, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1 } },
  },
  {
    kind: 'Job',
    apiVersion: 'batch/v1',
    resource: 'jobs',
    namespaced: true,
    make: (choices) => ({
      spec: {
        ...choices.maybe(() => ({ parallelism: choices.int(0, 4) })),
        ...choices.maybe(() => ({ completions: choices.int(1, 4) })),
        ...choices.maybe(() => ({ backoffLimit: choices.int(0, 9) })),
        ...choices.maybe(() => ({ activeDeadlineSeconds: 100 }), 0.3),
        template: { spec: makePodSpec(choices, choices.pick(['Never', 'OnFailure'])) },
      },
    }),
    changes: [LABELLED, ['spec.parallelism', 3], ['spec.backoffLimit', 4]],
    invalid: {
      'negative parallelism': ['spec.parallelism', -1],
      'negative completions': ['spec.completions', -1],
      'negative backoff': ['spec.backoffLimit', -1],
      'no restart policy': ['spec.template.spec.restartPolicy', undefined],
      'restart policy': ['spec.template.spec.restartPolicy', 'Always'],
      'own selector': ['spec.selector', { matchLabels: { a: 'b' } }],
    },
    immutable: { template: ['spec.template.spec.containers.0.image', 'nginx:9'] },
    status: { status: { active: 1, startTime: '2026-01-01T00:00:00Z' } },
  },
  {
    kind: 'ReplicationController',
    apiVersion: 'v1',
    resource: 'replicationcontrollers',
    namespaced: true,
    make: (choices) => ({
      spec: {
        ...replicated(choices),
        ...choices.maybe(() => ({ selector: SELECTED })),
        template: makeTemplate(choices, SELECTED),
      },
    }),
    changes: [LABELLED, OTHER_IMAGE, ['spec.replicas', 7]],
    invalid: {
      'negative replicas': NEGATIVE_REPLICAS,
      'selector of other labels': ['spec.selector', { app: 'other' }],
      'no template': ['spec.template', undefined],
    },
    status: { status: { replicas: 2 } },
    scale: true,
  },
  {
    kind: 'PodTemplate',
    apiVersion: 'v1',
    resource: 'podtemplates',
    namespaced: true,
    make: (choices) => ({ template: makeTemplate(choices, SELECTED) }),
    changes: [LABELLED, ['template.spec.containers.0.image', 'nginx:2']],
    invalid: invalidContainers('template.spec'),
  },
  {
    kind: 'ControllerRevision',
    apiVersion: 'apps/v1',
    resource: 'controllerrevisions',
    namespaced: true,
    make: (choices) => ({ revision: choices.int(1, 9), data: { spec: { any: choices.pick([1, 'x', [true]]) } } }),
    changes: [LABELLED, ['revision', 11]],
    invalid: { 'negative revision': ['revision', -1], 'no data': ['data', undefined] },
    immutable: { data: ['data', { other: 1 }] },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    resource: 'horizontalpodautoscalers',
    namespaced: true,
    make: (choices) => ({
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: choices.int(3, 9),
        ...choices.maybe(() => ({ minReplicas: 2 })),
        ...choices.maybe(() => ({ targetCPUUtilizationPercentage: 60 })),
      },
    }),
    changes: [LABELLED, ['spec.maxReplicas', 12]],
    invalid: {
      'max below min': ['spec.minReplicas', 20],
      'zero min': ['spec.minReplicas', 0],
      'zero max': ['spec.maxReplicas', 0],
      'target without kind': ['spec.scaleTargetRef.kind', undefined],
      'target without name': ['spec.scaleTargetRef.name', ''],
      'negative percentage': ['spec.targetCPUUtilizationPercentage', -1],
    },
    status: { status: { currentReplicas: 1, desiredReplicas: 2 } },
  },
  {
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1beta1',
    resource: 'poddisruptionbudgets',
    namespaced: true,
    make: (choices) => ({
      spec: {
        selector: { matchLabels: SELECTED },
        ...choices.pick<Fields>([
          { minAvailable: 1 },
          { minAvailable: '50%' },
          { maxUnavailable: 1 },
          { maxUnavailable: '20%' },
        ]),
      },
    }),
    changes: [LABELLED],
    invalid: {
      'both amounts': ['spec', { minAvailable: 1, maxUnavailable: 1 }],
      percentage: ['spec', { minAvailable: '150%' }],
      'selector operator': ['spec.selector', { matchExpressions: [{ key: 'a', operator: 'Like' }] }],
    },
    status: {
      status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1 },
    },
  },
  {
    kind: 'CronJob',
    apiVersion: 'batch/v1beta1',
    resource: 'cronjobs',
    namespaced: true,
    make: (choices) => ({
      spec: {
        schedule: choices.pick(['*/5 * * * *', '@hourly', '0 3 * * 1']),
        ...choices.maybe(() => ({ concurrencyPolicy: choices.pick(['Allow', 'Forbid', 'Replace']) })),
        ...choices.maybe(() => ({ suspend: true })),
        jobTemplate: { spec: { template: { spec: makePodSpec(choices, 'OnFailure') } } },
      },
    }),
    changes: [LABELLED, ['spec.suspend', true]],
    invalid: {
      schedule: ['spec.schedule', 'often'],
      'no schedule': ['spec.schedule', undefined],
      'concurrency policy': ['spec.concurrencyPolicy', 'Maybe'],
      'negative deadline': ['spec.startingDeadlineSeconds', -1],
      'negative history': ['spec.successfulJobsHistoryLimit', -1],
      'restart policy': ['spec.jobTemplate.spec.template.spec.restartPolicy', 'Always'],
    },
    status: { status: { lastScheduleTime: '2026-01-01T00:00:00Z' } },
  },
];
