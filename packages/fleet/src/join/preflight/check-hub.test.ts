import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Clock, systemClock } from '@asterism/client';
import { startConnectProxy } from '@asterism/client/testing';
import { customResourceDefinitions, REGISTER_GROUP } from '../../api/index.ts';
import { registerAccess } from '../access/register-access.ts';
import { certificatePin } from '../connect/public-key-pin.ts';
import type { Finding } from '../finding.ts';
import { checkHub, type CheckHubOptions } from './check-hub.ts';

let hub: TestServer;
let plain: TestServer;
let silent: Server;

before(async () => {
  hub = await startTestServer({ crds: await customResourceDefinitions() });
  plain = await startTestServer();
  for (const object of registerAccess()) {
    await hub.client.resource(await hub.client.discovery.typeFor(object)).create(object);
  }
  silent = createServer((socket) => socket.end('SSH-2.0\r\n').resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await hub[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
  await new Promise((resolve) => silent.close(resolve));
});

const USER = { username: 'system:bootstrap:abcdef', groups: [REGISTER_GROUP, 'system:authenticated'] };

const late = (ms: number): Clock => ({ ...systemClock, wall: () => new Date(Date.now() - ms) });

async function check(change: Partial<CheckHubOptions> = {}): Promise<Finding[]> {
  const address = { server: hub.url, ca: certificatePin(hub.ca.cert), token: hub.tokenFor(USER) };
  return (await checkHub({ hub: address, clock: systemClock, userAgent: 'test', ...change })).findings;
}

async function faultOf(change: Partial<CheckHubOptions>): Promise<string> {
  const faults = (await check(change)).filter(({ state }) => state === 'Fault');
  assert.equal(faults.length, 1, JSON.stringify(faults));
  const [{ check: what, message, remedy } = { check: '', message: '' }] = faults;
  return `${what}: ${message} -> ${remedy}`;
}

const at = (server: string, rest: object = {}) => ({
  hub: { server, ca: certificatePin(hub.ca.cert), token: 'x', ...rest },
});

describe('what a cluster looks at before it joins a hub', () => {
  test('nothing to complain of', async () => {
    const findings = await check();
    assert.deepEqual(
      findings.map((finding) => [finding.check, finding.state]),
      [
        ['hub', 'Fine'],
        ['clock', 'Fine'],
        ['token', 'Fine'],
      ],
    );
  });

  test('through a proxy: all of it goes there, and what that refuses is told', async () => {
    await using proxy = await startConnectProxy({ credential: 'edge:s3cret' });
    const hubBy = (user: string): Partial<CheckHubOptions> =>
      at(hub.url, { token: hub.tokenFor(USER), proxyUrl: `http://${user}127.0.0.1:${proxy.port}` });
    const findings = await check(hubBy('edge:s3cret@'));
    assert.ok(
      findings.every(({ state }) => state === 'Fine'),
      JSON.stringify(findings),
    );
    assert.ok(proxy.asked.length >= 2, 'the look at the authority, and the calls');
    const fault = await faultOf(hubBy('edge:wr0ng@'));
    assert.match(fault, /^reach of the hub: .*407 Proxy Authentication Required/);
    assert.doesNotMatch(fault, /wr0ng/);
  });

  test('reach: a name that does not resolve', async () => {
    assert.match(
      await faultOf(at('https://hub.invalid:7443')),
      /^reach of the hub: the hub does not answer: .*hub\.invalid.* -> make the name hub\.invalid resolve here \(DNS\), or give --hub its address$/,
    );
  });

  test('reach: nobody listens', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    assert.match(
      await faultOf(at(`https://127.0.0.1:${port}`)),
      new RegExp(
        `^reach of the hub: .*ECONNREFUSED.* -> check that the hub runs, and listens on port ${port} of that address$`,
      ),
    );
  });

  test('reach: no answer, with and without a proxy', async () => {
    const closing = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
    const unanswered = at(`https://127.0.0.1:${(closing.address() as AddressInfo).port}`);
    assert.match(
      await faultOf(unanswered),
      /-> open the way from here to 127\.0\.0\.1:\d+ \(TCP\); where only a proxy leads out, set HTTPS_PROXY$/,
    );
    const environment = { HTTPS_PROXY: 'http://proxy:3128' };
    assert.match(
      await faultOf({ ...unanswered, environment }),
      /; HTTPS_PROXY is set: does that proxy let through to it\?$/,
    );
    await new Promise((resolve) => closing.close(resolve));
  });

  test('reach: something that speaks no TLS', async () => {
    const { port } = silent.address() as AddressInfo;
    assert.match(
      await faultOf(at(`https://127.0.0.1:${port}`)),
      /^reach of the hub: .* -> check that --hub is the hub's own port/s,
    );
  });

  test('identity: another hub than the pin names, which is sent nothing', async () => {
    assert.match(
      await faultOf({ hub: { server: hub.url, ca: certificatePin(plain.ca.cert), token: 'secret' } }),
      /^hub identity: https:\S+ is not the hub that the pin .* -> compare both with what `aster token create` printed/,
    );
    assert.match(
      await faultOf({ hub: { server: hub.url, ca: plain.ca.cert, token: 'secret' } }),
      /^hub identity: what answers at https:\S+ is not the hub that the CA vouches for/,
    );
  });

  test('clock: ten minutes behind', async () => {
    assert.match(
      await faultOf({ clock: late(600_000) }),
      /^clock: the clock of the hub is 10 min ahead of this machine's: certificates .* -> set both right \(NTP\)$/,
    );
  });

  test('token: not known, and without the right to ask', async () => {
    assert.match(
      await faultOf(at(hub.url, { token: 'abcdef.0123456789abcdef' })),
      /^token: the hub https:\S+ does not take the bootstrap token: wrong, expired or revoked -> ask an administrator/,
    );
    const stranger = hub.tokenFor({ username: 'somebody', groups: ['system:authenticated'] });
    assert.match(
      await faultOf(at(hub.url, { token: stranger })),
      /^token: the hub https:\S+ knows the token, but gives it no right to ask to join -> /,
    );
  });

  test('version: an API server that is no hub', async () => {
    const address = { server: plain.url, ca: plain.ca.cert, token: plain.tokenFor(USER) };
    assert.match(
      await faultOf({ hub: address }),
      /^hub: https:\S+ serves no asterism\.dev\/v1alpha1: it is an API server, but no hub/,
    );
  });

  test('address: loopback, for an agent in a pod', async () => {
    assert.match(
      await faultOf({ fromPod: true }),
      /^hub address: https:\/\/127\S+ leads the agent's pod to the pod itself -> give --hub an address/,
    );
  });
});
