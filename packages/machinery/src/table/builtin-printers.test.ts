import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BUILTIN_RESOURCES } from '../generated/builtin-resources.ts';
import type { KubeObject } from '../object.ts';
import { builtinPrinter } from './builtin-printers.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const AN_HOUR_AGO = '2026-01-02T02:04:05Z';

/** The cells by the name of their column. An IPAddress shows an age that has no column, as upstream. */
function show(group: string, kind: string, object: KubeObject): Record<string, unknown> {
  const printer = builtinPrinter({ group, kind });
  const { cells } = printer.row(object, NOW);
  assert.equal(cells.length, printer.columns.length + (kind === 'IPAddress' ? 1 : 0));
  return Object.fromEntries(printer.columns.map(({ name }, i) => [name, cells[i]]));
}

/** Asserts some of the cells. */
function shows(group: string, kind: string, object: KubeObject, expected: Record<string, unknown>): void {
  const all = show(group, kind, object);
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, all[name]])), expected);
}

test('every built-in kind can be shown, however empty the object', () => {
  for (const { group, kind } of BUILTIN_RESOURCES) {
    for (const object of [{}, { metadata: {}, spec: {}, status: {} }]) {
      assert.doesNotThrow(() => show(group, kind, object), `${group}/${kind}`);
    }
  }
});

describe('workloads', () => {
  const rows: [name: string, group: string, kind: string, object: KubeObject, cells: Record<string, unknown>][] = [
    [
      'ReplicaSet',
      'apps',
      'ReplicaSet',
      {
        spec: {
          replicas: 3,
          selector: {
            matchLabels: { app: 'web' },
            matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
          },
          template: {
            spec: {
              containers: [
                { name: 'x', image: 'i:1' },
                { name: 'y', image: 'i:2' },
              ],
            },
          },
        },
        status: { replicas: 2, readyReplicas: 1 },
      },
      { Desired: 3, Current: 2, Ready: 1, Containers: 'x,y', Images: 'i:1,i:2', Selector: 'app=web,tier in (a,b)' },
    ],
    [
      'a selector that is wrong',
      'apps',
      'ReplicaSet',
      { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } },
      { Selector: '<error>' },
    ],
    [
      'ControllerRevision of a StatefulSet',
      'apps',
      'ControllerRevision',
      {
        metadata: {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '1' },
            { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: '2', controller: true },
          ],
        },
        revision: 4,
      },
      { Controller: 'statefulset.apps/db', Revision: 4 },
    ],
    [
      'Job that runs',
      'batch',
      'Job',
      { spec: { completions: 5 }, status: { startTime: AN_HOUR_AGO, succeeded: 2 } },
      { Status: 'Running', Completions: '2/5', Duration: '60m' },
    ],
    [
      'Job that is complete',
      'batch',
      'Job',
      {
        spec: { completions: 1 },
        status: {
          startTime: AN_HOUR_AGO,
          completionTime: '2026-01-02T02:04:15Z',
          succeeded: 1,
          conditions: [{ type: 'Complete', status: 'True' }],
        },
      },
      { Status: 'Complete', Completions: '1/1', Duration: '10s' },
    ],
    [
      'Job without a number of completions',
      'batch',
      'Job',
      { spec: { parallelism: 3 }, status: { succeeded: 1, conditions: [{ type: 'Suspended', status: 'True' }] } },
      { Status: 'Suspended', Completions: '1/1 of 3', Duration: '' },
    ],
    [
      'Scale',
      'autoscaling',
      'Scale',
      { metadata: { name: 'web' }, spec: { replicas: 3 }, status: { replicas: 2 } },
      { Name: 'web', Desired: 3, Available: 2 },
    ],
    [
      'PodDisruptionBudget',
      'policy',
      'PodDisruptionBudget',
      { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } },
      { 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 2 },
    ],
    [
      'HorizontalPodAutoscaler v1',
      'autoscaling',
      'HorizontalPodAutoscaler',
      {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'web' },
          maxReplicas: 4,
          targetCPUUtilizationPercentage: 80,
        },
        status: { currentReplicas: 2, currentCPUUtilizationPercentage: 35 },
      },
      { Reference: 'Deployment/web', Targets: 'cpu: 35%/80%', MinPods: '<unset>', MaxPods: 4, Replicas: 2 },
    ],
    [
      'HorizontalPodAutoscaler with measured metrics',
      'autoscaling',
      'HorizontalPodAutoscaler',
      {
        spec: {
          metrics: [
            { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
            { type: 'External', external: { target: { type: 'AverageValue', averageValue: '30' } } },
          ],
        },
        status: {
          currentMetrics: [
            { type: 'Resource', resource: { name: 'memory', current: { averageValue: '512Mi' } } },
            { type: 'External', external: { current: { averageValue: '12' } } },
          ],
        },
      },
      { Targets: 'memory: 512Mi/1Gi, 12/30 (avg)' },
    ],
  ];
  for (const [name, group, kind, object, cells] of rows) test(name, () => shows(group, kind, object, cells));
});

describe('network', () => {
  const rows: [name: string, group: string, kind: string, object: KubeObject, cells: Record<string, unknown>][] = [
    [
      'LoadBalancer',
      '',
      'Service',
      {
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.0.0.1',
          externalIPs: ['192.0.2.9'],
          ports: [
            { port: 80, nodePort: 30080, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
          selector: { b: '2', a: '1' },
        },
        status: {
          loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { hostname: 'lb.example.com' }, { ip: '192.0.2.2' }] },
        },
      },
      {
        Type: 'LoadBalancer',
        'Cluster-IP': '10.0.0.1',
        'External-IP': '192.0.2.2,lb.example.com,192.0.2.9',
        'Port(s)': '80:30080/TCP,53/UDP',
        Selector: 'a=1,b=2',
      },
    ],
    [
      'LoadBalancer without an address',
      '',
      'Service',
      { spec: { type: 'LoadBalancer' } },
      { 'External-IP': '<pending>' },
    ],
    [
      'ExternalName',
      '',
      'Service',
      { spec: { type: 'ExternalName', externalName: 'example.com' } },
      { 'Cluster-IP': '<none>', 'External-IP': 'example.com', 'Port(s)': '<none>', Selector: '<none>' },
    ],
    [
      'more endpoints than fit',
      '',
      'Endpoints',
      {
        subsets: [
          { addresses: [{ ip: '1.1.1.1' }, { ip: '1.1.1.2' }], ports: [{ port: 80 }, { port: 443 }] },
          { addresses: [{ ip: '::1' }] },
        ],
      },
      { Endpoints: '1.1.1.1:80,1.1.1.2:80,1.1.1.1:443 + 2 more...' },
    ],
    [
      'EndpointSlice',
      'discovery.k8s.io',
      'EndpointSlice',
      {
        addressType: 'IPv4',
        ports: [{ port: 80 }, { name: 'any' }, {}],
        endpoints: [
          { addresses: ['10.0.0.1'] },
          { addresses: ['10.0.0.2'] },
          { addresses: ['10.0.0.3'] },
          { addresses: ['10.0.0.4'] },
        ],
      },
      { AddressType: 'IPv4', Ports: '80,any,*', Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...' },
    ],
    [
      'IngressClass',
      'networking.k8s.io',
      'IngressClass',
      { spec: { controller: 'c', parameters: { apiGroup: 'example.com', kind: 'P', name: 'x' } } },
      { Controller: 'c', Parameters: 'P.example.com/x' },
    ],
    [
      'Ingress whose rules without a host count once three are shown',
      'networking.k8s.io',
      'Ingress',
      { spec: { rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, {}] } },
      { Hosts: 'a,b,c + 2 more...' },
    ],
    [
      'Ingress with a rule for any host before the third',
      'networking.k8s.io',
      'Ingress',
      { spec: { rules: [{}, { host: 'a' }, { host: 'b' }, { host: 'c' }] } },
      { Hosts: 'a,b,c' },
    ],
    ['Ingress for any host', 'networking.k8s.io', 'Ingress', { spec: { rules: [{}] } }, { Hosts: '*' }],
    ['Service of no known type', '', 'Service', { spec: {} }, { 'External-IP': '<unknown>' }],
    [
      'IPAddress',
      'networking.k8s.io',
      'IPAddress',
      { spec: { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'kubernetes' } } },
      { ParentRef: 'services/default/kubernetes' },
    ],
  ];
  for (const [name, group, kind, object, cells] of rows) test(name, () => shows(group, kind, object, cells));
});

describe('cluster', () => {
  const rows: [name: string, group: string, kind: string, object: KubeObject, cells: Record<string, unknown>][] = [
    [
      'ComponentStatus of which nobody knows how it is',
      '',
      'ComponentStatus',
      { conditions: [{ type: 'Healthy', status: 'Unknown', message: 'm', error: 'e' }] },
      { Status: 'Unhealthy', Message: 'm', Error: 'e' },
    ],
    [
      'Node',
      '',
      'Node',
      {
        metadata: {
          creationTimestamp: AN_HOUR_AGO,
          labels: {
            'node-role.kubernetes.io/worker': '',
            'kubernetes.io/role': 'edge',
            'node-role.kubernetes.io/control-plane': '',
          },
        },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [
            { type: 'Hostname', address: 'h' },
            { type: 'InternalIP', address: '10.0.0.5' },
          ],
          nodeInfo: {
            kubeletVersion: 'v1.36.2',
            osImage: 'Debian 12',
            kernelVersion: '6.1',
            containerRuntimeVersion: 'containerd://2',
          },
        },
      },
      {
        Status: 'Ready,SchedulingDisabled',
        Roles: 'control-plane,edge,worker',
        Age: '60m',
        Version: 'v1.36.2',
        'Internal-IP': '10.0.0.5',
        'External-IP': '<none>',
        'OS-Image': 'Debian 12',
        'Kernel-Version': '6.1',
        'Container-Runtime': 'containerd://2',
      },
    ],
    [
      'Node that is not ready',
      '',
      'Node',
      { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
      { Status: 'NotReady', Roles: '<none>' },
    ],
    ['Node that never reported', '', 'Node', {}, { Status: 'Unknown' }],
    [
      'ResourceQuota',
      '',
      'ResourceQuota',
      { status: { hard: { pods: '10', 'limits.cpu': '4', cpu: '2' }, used: { pods: '3', 'limits.cpu': '1' } } },
      { Request: 'cpu: 0/2, pods: 3/10', Limit: 'limits.cpu: 1/4' },
    ],
    [
      'CertificateSigningRequest that is issued',
      'certificates.k8s.io',
      'CertificateSigningRequest',
      {
        spec: { signerName: 'example.com/s', username: 'alice', expirationSeconds: 3600 * 24 },
        status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'LS0t' },
      },
      { SignerName: 'example.com/s', Requestor: 'alice', RequestedDuration: '24h', Condition: 'Approved,Issued' },
    ],
    [
      'CertificateSigningRequest that waits',
      'certificates.k8s.io',
      'CertificateSigningRequest',
      {},
      { RequestedDuration: '<none>', Condition: 'Pending' },
    ],
    [
      'ClusterRoleBinding',
      'rbac.authorization.k8s.io',
      'ClusterRoleBinding',
      {
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: [
          { kind: 'User', name: 'a' },
          { kind: 'User', name: 'b' },
          { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        ],
      },
      { Role: 'ClusterRole/view', Users: 'a, b', Groups: '', ServiceAccounts: 'n/s' },
    ],
    ['APIService served here', 'apiregistration.k8s.io', 'APIService', {}, { Service: 'Local', Available: 'Unknown' }],
    [
      'Event of a series, whose own times and count do not matter',
      '',
      'Event',
      { firstTimestamp: AN_HOUR_AGO, lastTimestamp: AN_HOUR_AGO, count: 3, series: { count: 9 } },
      { 'Last Seen': '<unknown>', 'First Seen': '60m', Count: 9 },
    ],
    [
      'ValidatingAdmissionPolicyBinding with parameters by name',
      'admissionregistration.k8s.io',
      'ValidatingAdmissionPolicyBinding',
      { spec: { policyName: 'p', paramRef: { name: 'x' } } },
      { PolicyName: 'p', ParamRef: '*/x' },
    ],
    [
      'ValidatingAdmissionPolicyBinding with parameters by label',
      'admissionregistration.k8s.io',
      'ValidatingAdmissionPolicyBinding',
      { spec: { policyName: 'p', paramRef: { selector: { matchLabels: { b: '2', a: '1' } } } } },
      {
        ParamRef:
          '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}',
      },
    ],
    [
      'Event of events.k8s.io',
      'events.k8s.io',
      'Event',
      {
        metadata: { name: 'e' },
        eventTime: '2026-01-02T03:03:05.000000Z',
        series: { count: 4, lastObservedTime: '2026-01-02T03:04:00.000000Z' },
        type: 'Normal',
        reason: 'Scheduled',
        regarding: { kind: 'Pod', name: 'p' },
        reportingController: 'scheduler',
        reportingInstance: 's-1',
        note: ' assigned\n',
      },
      {
        'Last Seen': '5s',
        Object: 'pod/p',
        Source: 'scheduler, s-1',
        Message: 'assigned',
        'First Seen': '60s',
        Count: 4,
        Name: 'e',
      },
    ],
    [
      'StorageClass that is the default',
      'storage.k8s.io',
      'StorageClass',
      {
        metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'p',
      },
      {
        Name: 'fast (default)',
        Provisioner: 'p',
        ReclaimPolicy: 'Delete',
        VolumeBindingMode: 'Immediate',
        AllowVolumeExpansion: false,
      },
    ],
    [
      'PersistentVolume that is claimed',
      '',
      'PersistentVolume',
      {
        metadata: { deletionTimestamp: AN_HOUR_AGO },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteMany', 'ReadOnlyMany'],
          claimRef: { namespace: 'n', name: 'c' },
        },
        status: { phase: 'Bound' },
      },
      { Capacity: '1Gi', 'Access Modes': 'ROX,RWX', Status: 'Terminating', Claim: 'n/c' },
    ],
    [
      'ResourceClaim in use',
      'resource.k8s.io',
      'ResourceClaim',
      { status: { allocation: {}, reservedFor: [{}] } },
      { State: 'allocated,reserved' },
    ],
    [
      'FlowSchema',
      'flowcontrol.apiserver.k8s.io',
      'FlowSchema',
      {
        spec: {
          priorityLevelConfiguration: { name: 'system' },
          matchingPrecedence: 500,
          distinguisherMethod: { type: 'ByUser' },
        },
        status: { conditions: [{ type: 'Dangling', status: 'False' }] },
      },
      { PriorityLevel: 'system', MatchingPrecedence: 500, DistinguisherMethod: 'ByUser', MissingPL: 'False' },
    ],
  ];
  for (const [name, group, kind, object, cells] of rows) test(name, () => shows(group, kind, object, cells));
});
