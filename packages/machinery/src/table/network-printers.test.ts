import { testCells } from './testing/test-cells.ts';

testCells([
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
]);
