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
      const { service, endpoints } = at(host);
      assert.deepEqual([service.spec?.type, service.spec?.externalName, endpoints], ['ExternalName', name, undefined]);
    });
  }

  test('an IPv6 address: by Endpoints', () => {
    const { service, endpoints } = at('2001:db8::7');
    assert.deepEqual([service.spec?.type, service.spec?.ports?.[0]?.port], ['ClusterIP', 7443]);
    assert.deepEqual(endpoints?.subsets?.[0]?.addresses, [{ ip: '2001:db8::7' }]);
    assert.equal(endpoints?.subsets?.[0]?.ports?.[0]?.port, 7443);
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
});
