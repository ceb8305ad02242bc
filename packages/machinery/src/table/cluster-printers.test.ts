import { AN_HOUR_AGO, testCells } from './testing/test-cells.ts';

testCells([
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
]);
