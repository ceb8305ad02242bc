import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';
import { faultsOf, patchFaultsOf } from './testing/test-faults.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const FLOWS = 'flowcontrol.apiserver.k8s.io/v1';
const block = (type: string): string =>
  Buffer.from(`-----BEGIN ${type}-----\neA==\n-----END ${type}-----\n`).toString('base64');

const REFUSED: readonly (readonly [name: string, place: string, object: KubeObject, ...faults: string[]])[] = [
  [
    'taints of one key and effect',
    'v1/nodes',
    {
      spec: {
        taints: [
          { key: 'k', effect: 'NoSchedule' },
          { key: 'k', effect: 'NoSchedule' },
        ],
      },
    },
    'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
  ],
  [
    'two networks of pods of one family',
    'v1/nodes',
    { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
    'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
  ],
  [
    'half a pod',
    'v1/nodes',
    { status: { capacity: { pods: '1500m' } } },
    'status.capacity.pods: Invalid value: "1500m": must be an integer',
    'status.allocatable.pods: Invalid value: "1500m": must be an integer',
  ],
  [
    'a finalizer of a namespace without a domain',
    'v1/namespaces',
    { spec: { finalizers: ['nodomain'] } },
    'spec.finalizers: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
  ],
  [
    'a login without either half',
    'v1/secrets',
    { type: 'kubernetes.io/basic-auth' },
    'data[username]: Required value',
    'data[password]: Required value',
  ],
  [
    'registry credentials that are no JSON',
    'v1/secrets',
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } },
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'x\' looking for beginning of value',
  ],
  [
    'one key twice',
    'v1/configmaps',
    { data: { a: 'x' }, binaryData: { a: 'eA==' } },
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ],
  [
    'limits that contradict each other',
    'v1/limitranges',
    { spec: { limits: [{ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' }, default: { cpu: '1' } }] } },
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
  ],
  [
    'a ratio that cannot be',
    'v1/limitranges',
    {
      spec: {
        limits: [{ type: 'Container', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }],
      },
    },
    'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
  ],
  [
    'a quota of what is not counted',
    'v1/resourcequotas',
    { spec: { hard: { nope: '1' }, scopes: ['BestEffort', 'NotBestEffort'] } },
    'spec.hard[nope]: Invalid value: "nope": must be a standard resource type or fully qualified',
    'spec.hard[nope]: Invalid value: "nope": must be a standard resource for quota',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
  ],
  [
    'a scope of pods for services',
    'v1/resourcequotas',
    {
      spec: {
        hard: { services: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: 'Terminating', operator: 'In' }] },
      },
    },
    'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"Terminating","Operator":"In","Values":null}]}: unsupported scope applied to resource',
    'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
  ],
  [
    'a rule of both kinds',
    `${RBAC}/clusterroles`,
    {
      rules: [{ nonResourceURLs: ['/x'], resources: ['pods'], verbs: [] }],
      aggregationRule: { clusterRoleSelectors: [] },
    },
    'rules[0].verbs: Required value: verbs must contain at least one value',
    'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ],
  [
    'a subject of the cluster without a namespace',
    `${RBAC}/clusterrolebindings`,
    { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's', apiGroup: 'x' }] },
    'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
    'subjects[0].namespace: Required value',
  ],
  [
    'an event of nowhere',
    'events.k8s.io/v1/events',
    { type: 'X', deprecatedCount: 1 },
    'eventTime: Required value',
    'type: Invalid value: "": has invalid value: X',
    'count: Invalid value: "": needs to be unset',
  ],
  [
    'a request that is none, to nobody',
    'certificates.k8s.io/v1/certificatesigningrequests',
    {
      spec: {
        request: block('X'),
        signerName: 'kubernetes.io/legacy-unknown',
        usages: ['client auth', 'client auth'],
        expirationSeconds: 5,
      },
    },
    `spec.request: Invalid value: "${block('X')}": PEM block type must be CERTIFICATE REQUEST`,
    'spec.usages[1]: Duplicate value: "client auth"',
    'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    'spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds (10 minutes)',
  ],
  [
    'a schema of flows without a level',
    `${FLOWS}/flowschemas`,
    { spec: { matchingPrecedence: 1, rules: [{ subjects: [{ kind: 'User', group: { name: 'g' } }] }] } },
    "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
    "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
    "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
    'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  ],
  [
    'a hand that no hash can tell',
    `${FLOWS}/prioritylevelconfigurations`,
    {
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 512, handSize: 10 } } } },
    },
    'spec.limited.limitResponse.queuing.handSize: Invalid value: 10: required entropy bits of deckSize 512 and handSize 10 should not be greater than 60',
  ],
  [
    'a service of the API under another name',
    'apiregistration.k8s.io/v1/apiservices',
    { spec: { group: 'a.b', version: 'v1', groupPriorityMinimum: 0, versionPriority: 1, insecureSkipTLSVerify: true } },
    'metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.a.b"',
    'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
    'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
  ],
  [
    'a claim for devices of no class',
    'resource.k8s.io/v1/resourceclaims',
    {
      spec: {
        devices: {
          requests: [{ name: 'a', exactly: {} }, { name: 'a' }],
          constraints: [{ requests: ['b'], matchAttribute: 'x' }],
        },
      },
    },
    'spec.devices.requests[0].exactly.deviceClassName: Required value',
    'spec.devices.requests[1]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    'spec.devices.requests[1]: Duplicate value: "a"',
    'spec.devices.constraints[0].requests[0]: Invalid value: "b": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
    'spec.devices.constraints[0].matchAttribute: Invalid value: "x": must include a domain',
  ],
  [
    'a slice of devices nowhere',
    'resource.k8s.io/v1/resourceslices',
    { spec: { driver: 'BAD', pool: {} } },
    'spec.pool.name: Required value',
    'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
    'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
  ],
];

describe('kinds of the cluster refuse', () => {
  for (const [name, place, object, ...faults] of REFUSED) {
    test(name, async () => {
      await using t = await openTestRegistry();
      assert.deepEqual(await faultsOf(t, place, object), faults);
    });
  }

  test('data whose keys are names of JavaScript are data like any other', async () => {
    await using t = await openTestRegistry();
    assert.deepEqual(await faultsOf(t, 'v1/configmaps', { data: { constructor: 'x', toString: 'y' } }), []);
    assert.deepEqual(await faultsOf(t, 'v1/secrets', { type: 'kubernetes.io/tls', stringData: { constructor: 'x' } }), [
      'data[tls.crt]: Required value',
      'data[tls.key]: Required value',
    ]);
  });
});

test('a new node is not ready, and keeps what it was given', async () => {
  await using t = await openTestRegistry();
  const spec = { podCIDR: '10.9.0.0/24', providerID: 'a://b' };
  const node = await t.create('v1/nodes', { metadata: { name: 'x' }, spec });
  assert.deepEqual((node.spec as { taints: object[] }).taints, [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  ]);
  const body = { spec: { podCIDR: '10.8.0.0/24', podCIDRs: ['10.8.0.0/24'], providerID: 'c://d', taints: null } };
  assert.deepEqual(await patchFaultsOf(t, 'v1/nodes', { body }), [
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  ]);
});

test('a role of a binding stays', async () => {
  await using t = await openTestRegistry();
  const place = `${RBAC}/rolebindings`;
  await t.create(place, { metadata: { name: 'x' }, roleRef: { kind: 'Role', name: 'a' } });
  assert.deepEqual(await patchFaultsOf(t, place, { body: { roleRef: { name: 'b' } } }), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change roleRef',
  ]);
});

test('only a certificate can be issued', async () => {
  await using t = await openTestRegistry();
  const place = 'certificates.k8s.io/v1/certificatesigningrequests';
  const spec = { request: block('CERTIFICATE REQUEST'), signerName: 'a.b/c', usages: ['client auth'] };
  await t.create(place, { metadata: { name: 'x' }, spec });
  const issue = (certificate: string) =>
    patchFaultsOf(t, place, { body: { status: { certificate } }, subresource: 'status' });
  assert.deepEqual(await issue('eA=='), [
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ]);
  assert.deepEqual(await issue(block('PRIVATE KEY')), [
    'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
  ]);
  assert.deepEqual(await issue(block('CERTIFICATE')), []);
});

test('a range of limits needs no name', async () => {
  await using t = await openTestRegistry();
  const { metadata } = await t.create('v1/limitranges', { metadata: {}, spec: { limits: [] } });
  assert.match(metadata?.name ?? '', /^[0-9a-f]{8}-/);
});

test('a quota that lets more be requested than be used, and labels with new names, are warned of', async () => {
  await using t = await openTestRegistry();
  const hard = { cpu: '2', 'limits.cpu': '1', 'requests.memory': '1Gi', 'limits.memory': '2Gi' };
  await t.create('v1/resourcequotas', { metadata: { name: 'x' }, spec: { hard } });
  const old = { 'beta.kubernetes.io/os': 'linux' };
  await t.create('node.k8s.io/v1/runtimeclasses', {
    metadata: { name: 'x' },
    handler: 'h',
    scheduling: { nodeSelector: old },
  });
  await t.create('storage.k8s.io/v1/csistoragecapacities', {
    metadata: { name: 'x' },
    storageClassName: 'c',
    nodeTopology: { matchLabels: old, matchExpressions: [{ key: 'beta.kubernetes.io/arch', operator: 'Exists' }] },
  });
  assert.deepEqual(t.warnings, [
    'ResourceQuota cpu (2) should be less than limits.cpu (1)',
    'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
    'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});

test('a change is looked at for itself as well as beside what was', async () => {
  await using t = await openTestRegistry();
  await t.create('node.k8s.io/v1/runtimeclasses', { metadata: { name: 'x' }, handler: 'h' });
  const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute' };
  const tolerations = [1, 2].map((tolerationSeconds) => ({ ...toleration, tolerationSeconds }));
  assert.deepEqual(
    await patchFaultsOf(t, 'node.k8s.io/v1/runtimeclasses', { body: { handler: 'i', scheduling: { tolerations } } }),
    [
      'scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":2}',
      'handler: Invalid value: "i": field is immutable',
    ],
  );
  const place = 'networking.k8s.io/v1/ipaddresses';
  await t.create(place, { metadata: { name: '10.1.1.1' }, spec: { parentRef: { resource: 'services', name: 'a' } } });
  const body = { spec: { parentRef: { name: '' } } };
  assert.deepEqual(await patchFaultsOf(t, place, { name: '10.1.1.1', body }), [
    'spec.parentRef.name: Required value',
    'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":""}: field is immutable',
  ]);
});
