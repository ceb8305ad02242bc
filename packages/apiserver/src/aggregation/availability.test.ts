import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_SERVICES, ENDPOINT_SLICES, SERVICES } from '@asterism/machinery';
import { NAME, startAggregating } from './testing/aggregating.ts';
import { ask, PATH } from './testing/ask.ts';
import { startBackend } from './testing/backend.ts';

test('the reasons on the way: no Service, no such port, no endpoints, none ready, no answer', async () => {
  await using backend = await startBackend({ service: 'widgets' });
  await using t = await startAggregating({ aggregation: { routing: 'endpoints' } });
  const { client } = t.server;
  await t.register('widgets', backend, { service: { namespace: 'default', name: 'widgets', port: backend.port } });
  const told = await t.until('ServiceNotFound');
  assert.equal(told.status?.conditions?.[0]?.message, 'service/widgets in "default" is not present');
  assert.deepEqual((await ask(client, { path: PATH })).status, 503);
  const at = { namespace: 'default', name: 'widgets' };
  await client.resource(SERVICES).create({ metadata: at, spec: { ports: [{ port: 1, name: 'a' }] } });
  await t.until('ServicePortError');
  const ports = [{ port: backend.port, name: 'b' }];
  await client.resource(SERVICES).patch(at, { type: 'merge', body: { spec: { ports } } });
  await t.until('EndpointsNotFound');
  const slice = (addresses: string[], ready: boolean) => ({
    metadata: { ...at, labels: { 'kubernetes.io/service-name': 'widgets' } },
    addressType: 'IPv4' as const,
    endpoints: [{ addresses, conditions: { ready } }],
    ports: [{ name: 'b', port: backend.port }],
  });
  const slices = client.resource(ENDPOINT_SLICES);
  await slices.create(slice(['198.51.100.7'], false));
  await t.until('MissingEndpoints');
  assert.equal((await ask(client, { path: PATH })).status, 503);
});

test('a certificate that is not of its authority is no answer', async () => {
  await using backend = await startBackend({ service: 'widgets' });
  await using t = await startAggregating();
  const other = await startBackend({ service: 'other' });
  await other.stop();
  await t.register('widgets', backend, { caBundle: Buffer.from(other.ca.cert).toString('base64') });
  await t.until('FailedDiscoveryCheck');
  assert.equal((await ask(t.server.client, { path: PATH })).status, 503);
  assert.equal(backend.requests.length, 0);
  await t.server.client
    .resource(API_SERVICES)
    .patch({ name: NAME }, { type: 'merge', body: { spec: { caBundle: null, insecureSkipTLSVerify: true } } });
  await t.until('Passed');
  assert.equal((await ask(t.server.client, { path: PATH })).status, 200);
});

test('a server that comes back is used again', async () => {
  await using first = await startBackend({ service: 'widgets' });
  await using t = await startAggregating();
  await t.register('widgets', first, { insecureSkipTLSVerify: true, caBundle: null });
  await t.until('Passed');
  await first.stop();
  assert.equal((await ask(t.server.client, { path: PATH })).status, 503);
  await t.until('FailedDiscoveryCheck');
  await using second = await startBackend({ service: 'widgets' });
  t.backends.set('widgets', second);
  await t.until('Passed');
  assert.equal((await ask(t.server.client, { path: PATH })).status, 200);
  assert.equal(second.requests.length, 1);
});
