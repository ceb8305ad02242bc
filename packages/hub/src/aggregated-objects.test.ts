import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_SERVICES } from '@asterism/fleet/api';
import { aggregatedObjects } from './aggregated-objects.ts';

const at = (host: string) => aggregatedObjects({ host, port: 7443, ca: 'CA' });

describe('what leads to the hub', () => {
  for (const [host, name] of [
    ['hub.example', 'hub.example'],
    ['192.0.2.7', '192.0.2.7'],
    ['127.0.0.1', 'localhost'],
    ['127.8.8.8', 'localhost'],
    ['::1', 'localhost'],
    ['localhost', 'localhost'],
  ] as const) {
    test(`${host}: by the name ${name}`, () => {
      const { services, endpoints } = at(host);
      const [spec] = services.map((service) => service.spec);
      assert.deepEqual([services.length, spec?.type, spec?.externalName, endpoints], [1, 'ExternalName', name, []]);
    });
  }

  test('an IPv6 address: by Endpoints', () => {
    const { services, endpoints } = at('2001:db8::7');
    assert.deepEqual([services[0]?.spec?.type, services[0]?.spec?.ports?.[0]?.port], ['ClusterIP', 7443]);
    assert.deepEqual(endpoints[0]?.subsets?.[0]?.addresses, [{ ip: '2001:db8::7' }]);
    assert.equal(endpoints[0]?.subsets?.[0]?.ports?.[0]?.port, 7443);
  });

  test('one APIService for each aggregated group, at that port, trusting that authority alone', () => {
    const { apiServices } = at('hub.example');
    assert.deepEqual(
      apiServices.map(({ metadata }) => metadata?.name),
      [...API_SERVICES],
    );
    for (const { spec } of apiServices) {
      assert.equal(spec?.service?.port, 7443);
      assert.equal(Buffer.from(spec?.caBundle ?? '', 'base64').toString(), 'CA');
      assert.equal(spec?.insecureSkipTLSVerify, undefined);
    }
  });

  test('where all replicas take calls: the ways into the members lead to any of them, search to the leader', () => {
    const leader = { host: '192.0.2.7', port: 7443, ca: 'CA 7\n' };
    const other = { host: '192.0.2.6', port: 7444, ca: 'CA 6\n' };
    const { services, endpoints, apiServices } = aggregatedObjects(leader, [leader, other]);
    assert.deepEqual(
      services.map(({ metadata, spec }) => [metadata?.name, spec?.type]),
      [
        ['asterism-hub', 'ClusterIP'],
        ['asterism-hub-replicas', 'ClusterIP'],
      ],
    );
    assert.deepEqual(endpoints[0]?.subsets?.[0]?.addresses, [{ ip: '192.0.2.7' }]);
    assert.deepEqual(
      endpoints[1]?.subsets?.map(({ addresses, ports }) => [addresses?.[0]?.ip, ports?.[0]?.port]),
      [
        ['192.0.2.6', 7444],
        ['192.0.2.7', 7443],
      ],
    );
    const led = apiServices.map(({ spec }) => [
      spec?.group,
      spec?.service?.name,
      Buffer.from(spec?.caBundle ?? '', 'base64').toString(),
    ]);
    assert.deepEqual(led, [
      ['proxy.asterism.dev', 'asterism-hub-replicas', 'CA 7\nCA 6\n'],
      ['search.asterism.dev', 'asterism-hub', 'CA 7\n'],
    ]);
  });
});
