import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';
import { faultsOf, patchFaultsOf } from './testing/test-faults.ts';

const PORTS = [{ port: 80 }];
const INGRESSES = 'networking.k8s.io/v1/ingresses';
const POLICIES = 'networking.k8s.io/v1/networkpolicies';
const SLICES = 'discovery.k8s.io/v1/endpointslices';
const CIDRS = 'networking.k8s.io/v1/servicecidrs';
const ONLY_BALANCERS = "Forbidden: may only be used when `type` is 'LoadBalancer'";

function service(spec: object): KubeObject {
  return { spec: { ports: PORTS, ...spec } };
}

function ingress(path: object): KubeObject {
  return { spec: { rules: [{ http: { paths: [path] } }] } };
}

const BACKEND = { service: { name: 'a', port: { number: 80 } } };

/** What is written, and what Kubernetes 1.36 says of it. */
const REFUSED: readonly (readonly [name: string, place: string, object: KubeObject, ...faults: string[]])[] = [
  ['a service without ports', 'v1/services', { spec: {} }, 'spec.ports: Required value'],
  [
    'ports of one number',
    'v1/services',
    service({
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80 },
      ],
    }),
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  ],
  [
    'an unknown type',
    'v1/services',
    service({ type: 'Nope' }),
    'spec.type: Unsupported value: "Nope": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ],
  [
    'no address',
    'v1/services',
    service({ clusterIP: '300.1.1.1' }),
    'spec.clusterIPs[0]: Invalid value: "300.1.1.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    'two stacks where there is one',
    'v1/services',
    service({ ipFamilyPolicy: 'RequireDualStack' }),
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
  [
    'a family that the cluster has not',
    'v1/services',
    service({ ipFamilies: ['IPv6'] }),
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  [
    'a headless balancer',
    'v1/services',
    service({ type: 'LoadBalancer', clusterIP: 'None' }),
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services',
  ],
  [
    'a node port of an inner service',
    'v1/services',
    service({ ports: [{ port: 80, nodePort: 30_080 }] }),
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  [
    'fields of balancers elsewhere',
    'v1/services',
    service({
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      allocateLoadBalancerNodePorts: true,
      loadBalancerClass: 'a/b',
    }),
    `spec.LoadBalancerSourceRanges: ${ONLY_BALANCERS}`,
    `spec.allocateLoadBalancerNodePorts: ${ONLY_BALANCERS}`,
    `spec.loadBalancerClass: ${ONLY_BALANCERS}`,
  ],
  [
    'policies that are none',
    'v1/services',
    service({ internalTrafficPolicy: 'X', trafficDistribution: 'X', externalTrafficPolicy: 'Local' }),
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    'spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"',
    'spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
  ],
  [
    'an affinity of more than a day',
    'v1/services',
    service({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } }),
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ],
  [
    'endpoints without an address',
    'v1/endpoints',
    { subsets: [{ ports: [{ port: 0 }] }] },
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
  ],
  [
    'a slice with addresses of the other family',
    SLICES,
    { addressType: 'IPv4', endpoints: [{ addresses: ['2001:db8::1'] }] },
    'endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address',
  ],
  [
    'ports of a slice without names',
    SLICES,
    { addressType: 'FQDN', endpoints: [{ addresses: ['a.b'] }], ports: [{ port: 1 }, { port: 2 }] },
    'ports[1].name: Duplicate value: ""',
  ],
  [
    'a relative path',
    INGRESSES,
    ingress({ path: 'a', pathType: 'Prefix', backend: BACKEND }),
    'spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path',
  ],
  [
    'paths that step about',
    INGRESSES,
    ingress({ path: '/a//b/..', pathType: 'Exact', backend: BACKEND }),
    'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/..": must not contain \'//\'',
    'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/..": cannot end with \'/..\'',
  ],
  [
    'a backend without a port',
    INGRESSES,
    ingress({ pathType: 'ImplementationSpecific', backend: { service: { name: 'a' } } }),
    'spec.rules[0].http.paths[0].backend: Required value: port name or number is required',
  ],
  [
    'a host that is an address',
    INGRESSES,
    { spec: { rules: [{ host: '1.2.3.4' }] } },
    'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ],
  [
    'a class of a namespace without one',
    'networking.k8s.io/v1/ingressclasses',
    { spec: { controller: 'a.com/b', parameters: { kind: 'X', name: 'x', scope: 'Namespace' } } },
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ],
  [
    'a controller without a domain',
    'networking.k8s.io/v1/ingressclasses',
    { spec: { controller: 'a' } },
    'spec.controller: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    'peers that are none',
    POLICIES,
    { spec: { podSelector: {}, ingress: [{ from: [{}, { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] } },
    'spec.ingress[0].from[0]: Required value: must specify a peer',
    'spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer',
  ],
  [
    'exceptions outside the block',
    POLICIES,
    {
      spec: {
        podSelector: {},
        egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/9', '10.0.0.0/8'] } }] }],
      },
    },
    'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a strict subset of `cidr`',
    'spec.egress[0].to[0].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
  ],
  [
    'ranges of ports that end before they begin',
    POLICIES,
    {
      spec: {
        podSelector: {},
        ingress: [{ ports: [{ port: 80, endPort: 70 }, { port: 'a', endPort: 1 }, { endPort: 1 }] }],
      },
    },
    'spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`',
    'spec.ingress[0].ports[1].endPort: Invalid value: 1: may not be specified when `port` is non-numeric',
    'spec.ingress[0].ports[2].endPort: Invalid value: 1: may not be specified when `port` is not specified',
  ],
  [
    'two networks of one family',
    CIDRS,
    { spec: { cidrs: ['10.1.0.0/24', '10.2.0.0/24'] } },
    'spec.cidrs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
  ],
  [
    'an address without a parent',
    'networking.k8s.io/v1/ipaddresses',
    { metadata: { name: 'x' } },
    'metadata.name: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'spec.parentRef: Required value',
  ],
];

describe('kinds of the network refuse', () => {
  for (const [name, place, object, ...faults] of REFUSED) {
    test(name, async () => {
      await using t = await openTestRegistry();
      assert.deepEqual(await faultsOf(t, place, object), faults);
    });
  }
});

describe('services', () => {
  test('keep their address and node ports, and lose with the type what it has not', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/services', { metadata: { name: 'x' }, spec: { type: 'LoadBalancer', ports: PORTS } });
    assert.deepEqual(
      await patchFaultsOf(t, 'v1/services', { body: { spec: { clusterIP: '10.96.0.77', clusterIPs: null } } }),
      ['spec.clusterIPs[0]: Invalid value: ["10.96.0.77"]: may not change once set'],
    );
    assert.deepEqual(await patchFaultsOf(t, 'v1/services', { body: { spec: { type: 'ClusterIP' } } }), []);
    const spec = (await t.get('v1/services', 'x')).spec as { clusterIP: string; ports: object[] };
    assert.match(spec.clusterIP, /^10\./);
    assert.deepEqual(spec.ports, [{ port: 80, protocol: 'TCP', targetPort: 80 }]);
    assert.ok(!('allocateLoadBalancerNodePorts' in spec) && !('externalTrafficPolicy' in spec));
  });

  test('free what they had, and what a refused one asked for, at once', async () => {
    await using t = await openTestRegistry();
    const asking = (name: string, more: object = {}) =>
      t.create('v1/services', {
        metadata: { name },
        spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_777 }], ...more },
      });
    await assert.rejects(asking('a', { sessionAffinity: 'X' }), /Unsupported value/);
    await asking('b');
    await assert.rejects(asking('c'), /provided port is already allocated/);
    await t.registry.delete(t.resource('v1/services'), { namespace: 'default', name: 'b' }, {}, t.context());
    await asking('d');
  });

  test('take addresses for balancers alone, in their status', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/services', { metadata: { name: 'x' }, spec: { ports: PORTS } });
    const body = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } };
    assert.deepEqual(await patchFaultsOf(t, 'v1/services', { body, subresource: 'status' }), [
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
  });

  test('warn of fields that do nothing', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/services', {
      metadata: { name: 'x' },
      spec: { ports: PORTS, externalName: 'a.b', externalIPs: ['192.0.2.1'], trafficDistribution: 'PreferClose' },
    });
    assert.deepEqual(t.warnings, [
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ]);
  });
});

test('a network of services may get a second one, and not change', async () => {
  await using t = await openTestRegistry();
  await t.create(CIDRS, { metadata: { name: 'x' }, spec: { cidrs: ['10.1.0.0/24'] } });
  const patch = (cidrs: string[]) => patchFaultsOf(t, CIDRS, { body: { spec: { cidrs } } });
  assert.deepEqual(await patch(['10.2.0.0/24']), ['spec.cidrs[0]: Invalid value: "10.2.0.0/24": field is immutable']);
  assert.deepEqual(await patch(['10.1.0.0/24', '2001:db8::/64']), []);
});
