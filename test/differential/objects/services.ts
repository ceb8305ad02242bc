import type { Choices } from '../choices.ts';
import type { FieldChange, Fields, GeneratedKind } from './generated-kind.ts';

const LABELLED: FieldChange = ['metadata.labels', { changed: 'yes' }];

function servicePorts(choices: Choices): Fields[] {
  const one = { port: choices.int(1, 9000), ...choices.maybe(() => ({ targetPort: choices.pick([8080, 'web']) })) };
  if (choices.chance(0.6)) return [{ ...one, ...choices.maybe(() => ({ name: 'web', protocol: 'UDP' })) }];
  return [
    { ...one, name: 'web' },
    { port: 9443, name: 'tls', ...choices.maybe(() => ({ appProtocol: 'https' })) },
  ];
}

function makeService(choices: Choices): Fields {
  const type = choices.pick([undefined, 'ClusterIP', 'NodePort', 'LoadBalancer', 'Headless']);
  return {
    spec: {
      ...(type === undefined ? {} : type === 'Headless' ? { clusterIP: 'None' } : { type }),
      ...choices.maybe(() => ({ selector: { app: 'web' } }), 0.8),
      // Without a selector a headless Service has both families since dual-stack (1.21).
      ...(type === 'Headless' ? { selector: { app: 'web' } } : {}),
      ports: servicePorts(choices),
      ...choices.maybe(() => ({ sessionAffinity: 'ClientIP' }), 0.3),
      ...choices.maybe(() => ({ externalIPs: ['192.0.2.9'] }), 0.2),
      ...choices.maybe(() => ({ publishNotReadyAddresses: true }), 0.2),
      ...(type === 'LoadBalancer' ? choices.maybe(() => ({ loadBalancerSourceRanges: ['192.0.2.0/24'] })) : {}),
      ...(type === 'LoadBalancer' || type === 'NodePort'
        ? choices.maybe(() => ({ externalTrafficPolicy: 'Local' }))
        : {}),
    },
  };
}

function makeIngress(choices: Choices): Fields {
  const backend = (): Fields => ({
    service: { name: 'web', port: choices.pick<Fields>([{ number: 80 }, { name: 'http' }]) },
  });
  const paths = choices.times(1, 2, (index) => ({
    path: `/p${index}`,
    pathType: choices.pick(['Prefix', 'Exact', 'ImplementationSpecific']),
    backend: backend(),
  }));
  return {
    spec: {
      ...choices.maybe(() => ({ ingressClassName: 'outer' })),
      ...choices.maybe(() => ({ defaultBackend: backend() })),
      ...choices.maybe(() => ({ tls: [{ hosts: ['a.example'], secretName: 'cert' }] })),
      rules: [{ ...choices.maybe(() => ({ host: choices.pick(['a.example', '*.b.example']) })), http: { paths } }],
    },
  };
}

function makeNetworkPolicy(choices: Choices): Fields {
  const peer = (): Fields =>
    choices.pick<Fields>([
      { podSelector: { matchLabels: { app: 'a' } } },
      { namespaceSelector: {} },
      { ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.64/26'] } },
    ]);
  const ports = [{ port: choices.pick([80, 'web']) }, { protocol: 'UDP', port: 53 }];
  return {
    spec: {
      podSelector: choices.pick<Fields>([{}, { matchLabels: { app: 'web' } }]),
      ...choices.maybe(() => ({ ingress: [{ from: [peer()], ports }] })),
      ...choices.maybe(() => ({ egress: [{ to: [peer()], ports }] })),
      ...choices.maybe(() => ({ policyTypes: ['Ingress', 'Egress'] }), 0.3),
    },
  };
}

function makeSubsets(choices: Choices): Fields {
  return {
    subsets: [
      {
        addresses: choices.shuffled([{ ip: '192.0.2.3', hostname: 'a' }, { ip: '192.0.2.1' }]),
        ...choices.maybe(() => ({ notReadyAddresses: [{ ip: '192.0.2.2' }] })),
        ports: [{ port: 80, ...choices.maybe(() => ({ name: 'web', protocol: 'TCP' })) }],
      },
    ],
  };
}

/** Kinds about traffic. */
export const SERVICES: readonly GeneratedKind[] = [
  {
    kind: 'Service',
    apiVersion: 'v1',
    resource: 'services',
    namespaced: true,
    make: makeService,
    changes: [LABELLED, ['spec.selector', { app: 'other' }], ['spec.sessionAffinity', 'None']],
    invalid: {
      'no ports': ['spec.ports', []],
      'port out of range': ['spec.ports', [{ port: 70_000 }]],
      'port zero': ['spec.ports', [{ port: 0 }]],
      'two ports without names': ['spec.ports', [{ port: 80 }, { port: 81 }]],
      'two ports alike': [
        'spec.ports',
        [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      ],
      protocol: ['spec.ports', [{ port: 80, protocol: 'HTTP' }]],
      type: ['spec', { type: 'Magic', ports: [{ port: 80 }] }],
      affinity: ['spec.sessionAffinity', 'Always'],
      'external ip': ['spec.externalIPs', ['nowhere']],
      selector: ['spec.selector', { app: 'not a label!' }],
      'cluster ip': ['spec', { clusterIP: '300.1.1.1', ports: [{ port: 80 }] }],
      'external name without name': ['spec', { type: 'ExternalName' }],
    },
  },
  {
    kind: 'Endpoints',
    apiVersion: 'v1',
    resource: 'endpoints',
    namespaced: true,
    make: makeSubsets,
    changes: [LABELLED, ['subsets', [{ addresses: [{ ip: '192.0.2.77' }], ports: [{ port: 81 }] }]]],
    invalid: {
      'no address': ['subsets.0.addresses', []],
      ip: ['subsets.0.addresses', [{ ip: 'a.b.c.d' }]],
      loopback: ['subsets.0.addresses', [{ ip: '127.0.0.1' }]],
      'link local': ['subsets.0.addresses', [{ ip: '169.254.1.1' }]],
      hostname: ['subsets.0.addresses', [{ ip: '192.0.2.1', hostname: 'Not_This' }]],
      'port out of range': ['subsets.0.ports', [{ port: 70_000 }]],
      protocol: ['subsets.0.ports', [{ port: 80, protocol: 'HTTP' }]],
    },
  },
  {
    kind: 'Ingress',
    apiVersion: 'networking.k8s.io/v1',
    resource: 'ingresses',
    namespaced: true,
    make: makeIngress,
    changes: [LABELLED, ['spec.ingressClassName', 'other']],
    invalid: {
      'no path type': ['spec.rules.0.http.paths.0.pathType', undefined],
      'path type': ['spec.rules.0.http.paths.0.pathType', 'Regex'],
      'relative path': ['spec.rules.0.http.paths.0.path', 'x'],
      'no backend': ['spec.rules.0.http.paths.0.backend', undefined],
      'service without port': ['spec.rules.0.http.paths.0.backend', { service: { name: 'web' } }],
      'two ports': ['spec.rules.0.http.paths.0.backend', { service: { name: 'web', port: { number: 1, name: 'a' } } }],
      host: ['spec.rules.0.host', 'Not A Host'],
      'host is an ip': ['spec.rules.0.host', '192.0.2.1'],
      nothing: ['spec', {}],
      'class name': ['spec.ingressClassName', 'Not This'],
    },
    status: { status: { loadBalancer: { ingress: [{ ip: '192.0.2.5' }] } } },
  },
  {
    kind: 'IngressClass',
    apiVersion: 'networking.k8s.io/v1',
    resource: 'ingressclasses',
    namespaced: false,
    make: (choices) => ({
      spec: {
        controller: 'example.com/ingress',
        ...choices.maybe(() => ({ parameters: { apiGroup: 'example.com', kind: 'Setting', name: 'x' } })),
      },
    }),
    changes: [LABELLED],
    invalid: {
      controller: ['spec.controller', 'no-domain'],
      'controller too long': ['spec.controller', `example.com/${'a'.repeat(250)}`],
    },
    immutable: { controller: ['spec.controller', 'example.com/other'] },
  },
  {
    kind: 'NetworkPolicy',
    apiVersion: 'networking.k8s.io/v1',
    resource: 'networkpolicies',
    namespaced: true,
    make: makeNetworkPolicy,
    changes: [LABELLED, ['spec.podSelector', { matchLabels: { app: 'other' } }]],
    invalid: {
      'policy type': ['spec.policyTypes', ['Sideways']],
      'empty peer': ['spec.ingress', [{ from: [{}] }]],
      cidr: ['spec.ingress', [{ from: [{ ipBlock: { cidr: 'x' } }] }]],
      'except outside': [
        'spec.ingress',
        [{ from: [{ ipBlock: { cidr: '192.0.2.0/24', except: ['198.51.100.0/24'] } }] }],
      ],
      'block and selector': ['spec.ingress', [{ from: [{ ipBlock: { cidr: '192.0.2.0/24' }, podSelector: {} }] }]],
      port: ['spec.ingress', [{ ports: [{ port: 70_000 }] }]],
      protocol: ['spec.ingress', [{ ports: [{ protocol: 'HTTP' }] }]],
    },
  },
];
