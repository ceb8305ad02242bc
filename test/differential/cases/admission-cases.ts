import { Choices } from '../choices.ts';
import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { ask, combinationsOf } from './as-user.ts';
import { caseName } from './requests.ts';

const MERGE = { headers: { 'Content-Type': 'application/merge-patch+json' } };

/** What a namespace lets in: quotas, limits, priorities. */
export function admissionCases(seed: number): DifferentialCase[] {
  return [quotaCase(seed), scopeCase(seed), limitCase(seed), priorityCase(seed)];
}

function pod(name: string, resources: Fields | readonly Fields[] = {}, more: Fields = {}): Fields {
  const each = Array.isArray(resources) ? resources : [resources];
  const containers = each.map((one: Fields, index) => ({ name: `c${index}`, image: 'x', resources: one }));
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, ...more } };
}

/** A quota with its status, which no controller writes here. */
function quota(path: string, name: string, hard: Fields, more: Fields = {}): RequestStep[] {
  const used = Object.fromEntries(Object.keys(hard).map((key) => [key, '0']));
  return [
    ask('POST', path, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...more } }),
    ask('PATCH', `${path}/${name}/status`, { status: { hard, used } }, MERGE),
  ];
}

function quotaCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'quota', seed);
  const choices = new Choices(seed, name);
  const at = (resource: string): string => `/api/v1/namespaces/${name}/${resource}`;
  const hard = {
    pods: '3',
    'requests.cpu': '1',
    'limits.memory': '1Gi',
    'count/secrets': '1',
    services: '2',
    'services.nodeports': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '5Gi',
  };
  const some = (cpu: string, memory: string): Fields => ({ requests: { cpu }, limits: { memory } });
  const service = (which: string, spec: Fields): RequestStep =>
    ask('POST', at('services'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: which },
      spec: { ports: [{ port: 80 }], ...spec },
    });
  const claim = (which: string, storage: string): RequestStep =>
    ask('POST', at('persistentvolumeclaims'), {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: which },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
  const secret = (which: string): RequestStep =>
    ask('POST', at('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: which } });
  const left = `${choices.int(1, 4) * 100}m`;
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('ResourceQuota', [
      'within',
      'used is written',
      'nothing asked for',
      'too much CPU',
      'too much memory',
      'too many',
      'several at once',
      'count of a kind',
      'node ports',
      'Service changed to more',
      'claims',
      'storage',
      'dry run',
      'generated name',
      'another kind',
    ]),
    steps: [
      ...quota(at('resourcequotas'), 'all', hard),
      ask('POST', at('pods'), pod('plain')),
      ask('POST', at('pods'), pod('half', { requests: { cpu: '100m' } })),
      ask('POST', at('pods'), pod('one', some('500m', '256Mi'))),
      ask('GET', at('resourcequotas/all')),
      ask('POST', at('pods'), pod('dry', some(left, '1Mi')), { query: { dryRun: 'All' } }),
      ask('POST', at('pods'), pod('much', some('600m', '1Mi'))),
      ask('POST', at('pods'), pod('more', some('1m', '1Gi'))),
      ask('POST', at('pods'), pod('both', [some('300m', '300Mi'), some('300m', '800Mi')])),
      ask('POST', at('pods'), pod('two', some('1m', '1Mi'))),
      ask('POST', at('pods'), pod('three', some('1m', '1Mi'))),
      ask('POST', at('pods'), pod('four', some('1m', '1Mi'))),
      secret('one'),
      secret('two'),
      ask('POST', at('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'free-' } }),
      service('inner', {}),
      service('outer', { type: 'NodePort' }),
      service('third', {}),
      ask('PATCH', at('services/inner'), { spec: { type: 'NodePort' } }, MERGE),
      claim('big', '6Gi'),
      claim('small', '5Gi'),
      claim('next', '1Gi'),
      ask('GET', at('resourcequotas/all')),
    ],
  };
}

function scopeCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'scopes', seed);
  const at = (resource: string): string => `/api/v1/namespaces/${name}/${resource}`;
  const scopes = at('resourcequotas');
  const inScope = {
    scopeSelector: {
      matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
    },
  };
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('ResourceQuota', [
      'best effort',
      'not best effort',
      'terminating',
      'not terminating',
      'priority class',
      'several quotas',
    ]),
    steps: [
      ...quota(scopes, 'best', { pods: '1' }, { scopes: ['BestEffort'] }),
      ...quota(scopes, 'not-best', { pods: '1' }, { scopes: ['NotBestEffort'] }),
      ...quota(scopes, 'ending', { pods: '1' }, { scopes: ['Terminating'] }),
      ...quota(scopes, 'lasting', { pods: '3' }, { scopes: ['NotTerminating'] }),
      ...quota(scopes, 'classed', { pods: '0' }, inScope),
      ask('POST', at('pods'), pod('best-1')),
      ask('POST', at('pods'), pod('best-2')),
      ask('POST', at('pods'), pod('better-1', { requests: { cpu: '1' } })),
      ask('POST', at('pods'), pod('better-2', { limits: { cpu: '1' } })),
      ask('POST', at('pods'), pod('ends', { requests: { cpu: '1' } }, { activeDeadlineSeconds: 5 })),
      ask('GET', scopes, undefined, {
        // Which of two quotas is charged first is chance, and so are their versions.
        headers: { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        query: { includeObject: 'None' },
      }),
    ],
  };
}

function limitCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'limits', seed);
  const choices = new Choices(seed, name);
  const at = (resource: string): string => `/api/v1/namespaces/${name}/${resource}`;
  const limits = [
    {
      type: 'Container',
      min: { cpu: '10m' },
      max: { cpu: '2', memory: '1Gi' },
      default: { memory: '512Mi' },
      defaultRequest: { cpu: `${choices.int(10, 90)}m` },
      maxLimitRequestRatio: { cpu: '4' },
    },
    { type: 'Pod', max: { memory: '1536Mi' } },
    { type: 'PersistentVolumeClaim', min: { storage: '2Gi' }, max: { storage: '4Gi' } },
  ];
  const claim = (which: string, storage: string): RequestStep =>
    ask('POST', at('persistentvolumeclaims'), {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: which },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
  const make = (which: string, resources: Fields | readonly Fields[], more: Fields = {}): RequestStep =>
    ask('POST', at('pods'), pod(which, resources, more));
  const none = { initContainers: [{ name: 'i', image: 'x' }] };
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('LimitRange', [
      'defaults',
      'some given',
      'limit over the maximum',
      'request under the minimum',
      'ratio',
      'pod over the maximum',
      'init container',
      'claim too small',
      'claim too big',
      'claim',
      'several faults',
      'no limit given',
    ]),
    steps: [
      ask('POST', at('limitranges'), {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'all' },
        spec: { limits },
      }),
      make('plain', {}),
      make('some', { requests: { cpu: '1' }, limits: { memory: '256Mi' } }),
      make('cpu', { limits: { cpu: '3' } }),
      make('memory', { limits: { cpu: '1', memory: '2Gi' } }),
      make('little', { requests: { cpu: '1m' }, limits: { cpu: '1' } }),
      make('ratio', { requests: { cpu: '100m' }, limits: { cpu: '1' } }),
      make('pod', [{ limits: { cpu: '1', memory: '1Gi' } }, { limits: { cpu: '1', memory: '1Gi' } }]),
      make('init', { limits: { cpu: '1' } }, none),
      // One fault of a kind: upstream tells several resources' in the chance order of a Go map.
      make('several', { requests: { cpu: '1m', memory: '3Gi' }, limits: { cpu: '1', memory: '4Gi' } }),
      claim('small', '1Gi'),
      claim('big', '5Gi'),
      claim('right', '3Gi'),
    ],
  };
}

function priorityCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'priority', seed);
  const choices = new Choices(seed, name);
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const pods = `/api/v1/namespaces/${name}/pods`;
  const value = choices.int(1, 1_000);
  const priorityClass = (which: string, more: Fields): RequestStep =>
    ask('POST', classes, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: which },
      value,
      ...more,
    });
  const make = (which: string, more: Fields, query: Record<string, string> = {}): RequestStep =>
    ask('POST', pods, pod(which, {}, more), { query });
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('PriorityClass', [
      'of a pod',
      'none',
      'absent',
      'other value',
      'same value',
      'value without class',
      'other policy',
      'system class',
      'system name',
      'too high',
      'built-in',
      'deleted built-in',
    ]),
    steps: [
      priorityClass(name, { preemptionPolicy: choices.pick(['Never', 'PreemptLowerPriority']) }),
      // The real server hears of classes by a watch of its own.
      { until: { ...make('with', { priorityClassName: name }, { dryRun: 'All' }), status: 201 } },
      make('with', { priorityClassName: name }),
      make('without', {}),
      make('absent', { priorityClassName: 'no-such-class' }),
      make('other', { priorityClassName: name, priority: value + 1 }),
      make('same', { priorityClassName: name, priority: value }),
      make('alone', { priority: value }),
      make('zero', { priority: 0 }),
      make('policy', { priorityClassName: name, preemptionPolicy: choices.pick(['Never', 'PreemptLowerPriority']) }),
      make('system', { priorityClassName: 'system-node-critical' }),
      priorityClass(`system-${name}`, {}),
      priorityClass(`${name}-high`, { value: 1_000_000_001 }),
      ask('GET', `${classes}/system-node-critical`),
      ask('PATCH', `${classes}/system-cluster-critical`, { description: 'x', value: 1 }, MERGE),
      ask('DELETE', `${classes}/${name}`),
      { until: { ...make('gone', { priorityClassName: name }, { dryRun: 'All' }), status: 403 } },
      make('gone', { priorityClassName: name }),
    ],
  };
}
