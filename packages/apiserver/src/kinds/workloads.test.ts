import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scheduleFault } from './cron-job/cron-schedule.ts';
import { cronJobKind } from './cron-job/kind.ts';
import { daemonSetKind } from './daemon-set/kind.ts';
import { deploymentKind } from './deployment/kind.ts';
import type { Fields } from './fields/draft-fields.ts';
import { horizontalPodAutoscalerKind } from './horizontal-pod-autoscaler/kind.ts';
import { jobKind } from './job/kind.ts';
import { podDisruptionBudgetKind } from './pod-disruption-budget/kind.ts';
import { statefulSetKind } from './stateful-set/kind.ts';
import type { Draft, Strategy } from '../contract/strategy.ts';

const POD = { containers: [{ name: 'app', image: 'nginx:1.27' }] };
const SERVED = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: POD },
};
const BATCH = { template: { spec: { ...POD, restartPolicy: 'Never' } }, manualSelector: true };
const SELECTED = { ...BATCH, selector: { matchLabels: { a: 'b' } } };
const JOB = { ...SELECTED, template: { ...BATCH.template, metadata: { labels: { a: 'b' } } } };
const CRON = { schedule: '*/5 * * * *', jobTemplate: { spec: BATCH } };
const SCALED = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 };

function objectOf(strategy: Strategy, spec: Fields): Draft {
  const object: Draft = { apiVersion: 'x', kind: 'X', metadata: { name: 'x' }, spec: structuredClone(spec) };
  strategy.applyDefaults?.(object);
  return object;
}

function faultsOfNew(strategy: Strategy, spec: Fields): string[] {
  const object = objectOf(strategy, spec);
  const found = [...(strategy.validateCreate?.(object) ?? []), ...(strategy.validate?.(object) ?? [])];
  return found.map(({ field, message }) => `${field}: ${message}`);
}

const ROWS: readonly (readonly [string, Strategy, Fields, readonly string[]])[] = [
  ['a Deployment', deploymentKind.strategy, SERVED, []],
  [
    'a Deployment without selector',
    deploymentKind.strategy,
    { template: SERVED.template },
    [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ],
  ],
  [
    'a Deployment that rolls and recreates',
    deploymentKind.strategy,
    { ...SERVED, strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'a DaemonSet that surges and lacks',
    daemonSetKind.strategy,
    { ...SERVED, updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
    ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero'],
  ],
  [
    'a StatefulSet with a policy of its own',
    statefulSetKind.strategy,
    { ...SERVED, podManagementPolicy: 'Random' },
    ["spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'"],
  ],
  ['a Job', jobKind.strategy, JOB, []],
  [
    'a Job whose pods run for ever',
    jobKind.strategy,
    { ...JOB, template: { ...JOB.template, spec: POD } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'an indexed Job without completions',
    jobKind.strategy,
    { ...JOB, completionMode: 'Indexed', parallelism: 1 },
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'a CronJob with its zone in its schedule',
    cronJobKind.strategy,
    { ...CRON, schedule: 'TZ=UTC * * * * *', jobTemplate: { spec: { template: BATCH.template } } },
    [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  ['an autoscaler', horizontalPodAutoscalerKind.strategy, SCALED, []],
  [
    'an autoscaler of nothing',
    horizontalPodAutoscalerKind.strategy,
    { maxReplicas: 3 },
    [
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    'a budget that says it twice',
    podDisruptionBudgetKind.strategy,
    { minAvailable: 1, maxUnavailable: 1 },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
];

describe('workloads', () => {
  for (const [name, strategy, spec, expected] of ROWS) {
    test(name, () => assert.deepEqual(faultsOfNew(strategy, spec), expected));
  }

  test('the template of a job stays as it was', () => {
    const old = objectOf(jobKind.strategy, JOB);
    const other = { ...JOB, template: { ...JOB.template, spec: { ...JOB.template.spec, hostname: 'h' } } };
    const found = jobKind.strategy.validateUpdate?.(objectOf(jobKind.strategy, other), old) ?? [];
    assert.deepEqual(
      found.map(({ field }) => field),
      ['spec.template'],
    );
    assert.match(found[0]?.message ?? '', /^Invalid value: \{"labels".*\}: field is immutable$/);
  });
});

describe('schedules', () => {
  const rows = [
    ['*/5 * * * *', undefined],
    ['0 0 1 jan sun', undefined],
    ['@daily', undefined],
    ['@every 1h30m', undefined],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['@never', 'unrecognized descriptor: @never'],
  ] as const;
  for (const [schedule, fault] of rows) test(schedule, () => assert.equal(scheduleFault(schedule), fault));
});
