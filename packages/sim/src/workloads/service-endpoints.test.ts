import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, Service } from '@asterism/machinery';
import { endpointSlicesOf, endpointsOf } from './service-endpoints.ts';

const service = (spec: Partial<NonNullable<Service['spec']>> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', uid: 'u-1' },
  spec: { selector: { app: 'web' }, ports: [{ name: 'web', port: 80, targetPort: 'http' }], ...spec },
});

const pod = (
  name: string,
  extra: { port?: number; ready?: boolean; leaving?: boolean; phase?: 'Failed' } = {},
): Pod => ({
  metadata: {
    name,
    namespace: 'default',
    uid: name,
    ...(extra.leaving ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
  },
  spec: {
    nodeName: 'node-1',
    hostname: name,
    subdomain: 'web',
    containers: [{ name: 'c', ports: [{ name: 'http', containerPort: extra.port ?? 8080 }] }],
  },
  status: {
    phase: extra.phase ?? 'Running',
    podIP: `10.0.0.${name.charCodeAt(0) - 96}`,
    conditions: [{ type: 'Ready', status: extra.ready === false ? 'False' : 'True' }],
  },
});

const node = () => ({ metadata: { labels: { 'topology.kubernetes.io/zone': 'z' } } });
const slices = (each: Service, pods: readonly Pod[]) => endpointSlicesOf(each, pods, node);

describe('the endpoints of a Service', () => {
  test('say of each pod what it is', () => {
    const pods = [pod('a'), pod('b', { ready: false }), pod('c', { leaving: true }), pod('d', { phase: 'Failed' })];
    const [slice] = slices(service(), pods);
    assert.deepEqual(
      slice?.endpoints?.map(({ addresses, conditions, hostname, zone }) => [addresses[0], conditions, hostname, zone]),
      [
        ['10.0.0.1', { ready: true, serving: true, terminating: false }, 'a', 'z'],
        ['10.0.0.2', { ready: false, serving: false, terminating: false }, 'b', 'z'],
        ['10.0.0.3', { ready: false, serving: true, terminating: true }, 'c', 'z'],
      ],
    );
    const [subset] = endpointsOf(service(), pods).subsets ?? [];
    assert.deepEqual(
      subset?.addresses?.map(({ ip }) => ip),
      ['10.0.0.1'],
    );
    assert.deepEqual(
      subset?.notReadyAddresses?.map(({ ip }) => ip),
      ['10.0.0.2'],
    );
  });

  test('are published before they are ready where the Service says so', () => {
    const each = service({ publishNotReadyAddresses: true });
    const pods = [pod('a', { ready: false }), pod('b', { leaving: true })];
    assert.deepEqual(
      slices(each, pods)[0]?.endpoints?.map(({ conditions }) => conditions?.ready),
      [true, true],
    );
    assert.equal(endpointsOf(each, pods).subsets?.[0]?.addresses?.length, 2);
  });

  test('are in different slices where a named port is another number', () => {
    const found = slices(service(), [pod('a'), pod('b', { port: 9090 }), pod('c')]);
    assert.deepEqual(
      found.map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints?.length]),
      [
        [8080, 2],
        [9090, 1],
      ],
    );
    assert.equal(new Set(found.map(({ metadata }) => metadata?.name)).size, 2);
  });

  test('are an empty slice and no subset where there is no pod', () => {
    assert.deepEqual(slices(service(), [])[0]?.endpoints, []);
    assert.equal(endpointsOf(service(), []).subsets, undefined);
  });

  test('are at most 100 in a slice', () => {
    const pods = Array.from({ length: 230 }, (_, n) => pod(`a${n}`));
    assert.deepEqual(
      slices(service(), pods).map(({ endpoints }) => endpoints?.length),
      [100, 100, 30],
    );
  });
});
