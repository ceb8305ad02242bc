import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConnectProxy } from '@asterism/client/testing';
import { TestFleet } from './testing/test-fleet.ts';

test('an agent joins through a proxy with a password, first look included, and comes back through it', async () => {
  await using fleet = await TestFleet.start();
  await using proxy = await startConnectProxy({ credential: 'edge:s3cret' });
  const member = await fleet.startMember();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
  const { url: server, caPin: ca } = fleet.hub;
  const proxyUrl = `http://edge:s3cret@127.0.0.1:${proxy.port}`;
  const agent = fleet.join(member, { hub: { server, ca, token, proxyUrl } });
  await agent.ready;
  assert.match((await fleet.reached('edge-1')).version, /^v1\./);
  assert.deepEqual([...new Set(proxy.asked)], [new URL(server).host]);
  // The look at the authority, the token's calls, the certificate's, and the tunnel.
  assert.ok(proxy.asked.length >= 4, String(proxy.asked.length));

  const before = proxy.asked.length;
  await fleet.hub.stop();
  await fleet.startHub({ listen: { host: '127.0.0.1', port: Number(new URL(server).port) } });
  assert.match((await fleet.reached('edge-1')).version, /^v1\./);
  assert.ok(proxy.asked.length > before);
});
