import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import type { UserInfo } from '../contract/user-info.ts';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '../pki/index.ts';
import { type Clock, systemClock } from '@asterism/client';
import { CONFIG_MAPS } from '@asterism/machinery';
import {
  authenticationConfig,
  call,
  type DelegatedServer,
  PROXY_NAME,
  publish,
  startDelegatedServer,
  WHOAMI_PATH,
} from './testing/delegated-server.ts';

const DAY_MS = 24 * 3600 * 1000;

const AS_READER = { 'X-Remote-User': 'eve', 'X-Remote-Group': ['readers', 'system:masters'] };

function client(ca: KeyPair, commonName: string, organizations: string[] = []): Promise<KeyPair> {
  return issueCertificate(ca, { commonName, organizations, usages: ['client'], days: 1 });
}

test('the front proxy says who the caller is: user, each group, extra; and no handler sees by which headers', async () => {
  await using running = await startDelegatedServer();
  const identity = await client(running.proxyCa, PROXY_NAME);
  const answer = await call(running, {
    identity,
    headers: {
      'X-Remote-User': Buffer.from('Zoë').toString('latin1'),
      'X-Remote-Group': ['readers', 'a, b'],
      'X-Remote-Extra-Example.com%2FScopes': ['one', 'two'],
      'X-Remote-Extra-__proto__': 'x',
      'X-Remote-Uid': 'forged',
      Authorization: 'Bearer x',
    },
  });
  assert.equal(answer.status, 200, answer.body);
  const seen = JSON.parse(answer.body) as { user: UserInfo; headers: Record<string, string> };
  // Not the uid: this host's proxy sends none, so it is the caller's own word.
  assert.deepEqual(seen.user, {
    username: 'Zoë',
    groups: ['readers', 'a, b', 'system:authenticated'],
    extra: Object.fromEntries([
      ['example.com/scopes', ['one', 'two']],
      ['__proto__', ['x']],
    ]),
  });
  assert.deepEqual(
    Object.keys(seen.headers).filter((name) => /remote|authorization/.test(name)),
    [],
  );
});

test('names of headers are the host’s, the uid among them', async () => {
  await using running = await startDelegatedServer();
  const { host, proxyCa } = running;
  const other = await createCertificateAuthority({ commonName: 'another' });
  await publish(
    running,
    authenticationConfig(host.ca.cert, `${proxyCa.cert}${other.cert}`, {
      'requestheader-username-headers': '["X-First", "X-Name"]',
      'requestheader-group-headers': '["X-Team"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-extra-headers-prefix': '["X-More-"]',
      'requestheader-allowed-names': '[]',
    }),
  );
  const headers = { 'X-Name': 'eve', 'X-Team': ['readers', 'b'], 'X-Remote-Uid': '7', 'X-More-Why': 'so' };
  const answer = await call(running, { identity: await client(proxyCa, 'any name'), headers });
  const seen = JSON.parse(answer.body) as { user: UserInfo; headers: Record<string, string> };
  assert.deepEqual(seen.user, {
    username: 'eve',
    uid: '7',
    groups: ['readers', 'b', 'system:authenticated'],
    extra: { why: ['so'] },
  });
  assert.deepEqual(
    Object.keys(seen.headers).filter((name) => name.startsWith('x-')),
    [],
  );
});

test('nobody else speaks for others', async (t) => {
  await using running = await startDelegatedServer();
  const { host, proxyCa } = running;
  const foreign = await createCertificateAuthority({ commonName: 'front-proxy-ca' });
  const alice = await client(host.ca, 'alice');
  const byAlice = await client(alice, PROXY_NAME);
  const reader = await client(host.ca, 'rita', ['readers', 'b']);
  const doors: { name: string; identity?: KeyPair; headers?: Record<string, string | string[]>; expect: RegExp }[] = [
    { name: 'without a certificate', expect: /^403 .*"system:anonymous\\"/ },
    { name: 'with a certificate of the client authority', identity: alice, expect: /^403 .*User \\"alice\\"/ },
    {
      name: 'with one of that authority and the proxy’s name',
      identity: await client(host.ca, PROXY_NAME),
      expect: /^403 .*User \\"front-proxy-client\\"/,
    },
    {
      name: 'with one of a foreign authority of the same name',
      identity: await client(foreign, PROXY_NAME),
      expect: /^401 /,
    },
    {
      name: 'with one of the proxy’s authority and another name',
      identity: await client(proxyCa, 'mallory'),
      expect: /^401 /,
    },
    {
      name: 'with the proxy’s, expired',
      identity: await issueCertificate(proxyCa, {
        commonName: PROXY_NAME,
        usages: ['client'],
        days: 1,
        now: Date.now() - 3 * DAY_MS,
      }),
      expect: /^401 /,
    },
    {
      name: 'with one of the proxy’s authority for servers',
      identity: await issueCertificate(proxyCa, { commonName: PROXY_NAME, usages: ['server'], days: 1 }),
      expect: /^401 /,
    },
    {
      name: 'with one that bears its authority’s name and key id, and another key’s signature',
      identity: await client({ cert: proxyCa.cert, key: foreign.key }, PROXY_NAME),
      expect: /^401 /,
    },
    {
      name: 'with one that a client signed himself',
      identity: { cert: `${byAlice.cert}${alice.cert}`, key: byAlice.key },
      expect: /^401 /,
    },
    {
      name: 'with the proxy’s and no user',
      identity: await client(proxyCa, PROXY_NAME),
      headers: { 'X-Remote-User': '', 'X-Remote-Group': 'readers' },
      expect: /^401 /,
    },
  ];
  for (const { name, identity, headers = AS_READER, expect } of doors) {
    await t.test(name, async () => {
      const { status, body } = await call(running, { headers, ...(identity === undefined ? {} : { identity }) });
      assert.match(`${status} ${body}`, expect);
    });
  }
  await t.test('the same request gets in by the proxy, or as a user of its own', async () => {
    const byProxy = await call(running, { identity: await client(proxyCa, PROXY_NAME), headers: AS_READER });
    assert.equal(byProxy.status, 200);
    const own = await call(running, { identity: reader, headers: { 'X-Remote-User': 'root' } });
    const { user } = JSON.parse(own.body) as { user: UserInfo };
    const { extra, ...named } = user;
    assert.deepEqual(named, { username: 'rita', groups: ['readers', 'b', 'system:authenticated'] });
    assert.match(String(extra?.['authentication.kubernetes.io/credential-id']), /^X509SHA256=[0-9a-f]{64}$/);
  });
});

test('a certificate is judged at each request: it ends within a connection', async () => {
  let later = 0;
  const clock: Clock = { ...systemClock, wall: () => new Date(systemClock.wall().getTime() + later) };
  await using running = await startDelegatedServer({ clock });
  await using connection = await open(running, await client(running.proxyCa, PROXY_NAME));
  assert.equal(await connection.status(), 200);
  later = 2 * DAY_MS;
  assert.equal(await connection.status(), 401);
});

test('an authority that the host exchanges counts at once: on new connections and on those that stand', async () => {
  await using running = await startDelegatedServer();
  const { host, proxyCa } = running;
  const next = await createCertificateAuthority({ commonName: 'front-proxy-ca' });
  await using old = await open(running, await client(proxyCa, PROXY_NAME));
  await using early = await open(running, await client(next, PROXY_NAME));
  assert.deepEqual([await old.status(), await early.status()], [200, 401]);
  await publish(running, authenticationConfig(host.ca.cert, next.cert));
  assert.deepEqual([await old.status(), await early.status()], [401, 200]);
  const late = await call(running, { identity: await client(next, PROXY_NAME), headers: AS_READER });
  // TLS itself knows of it: clients choose their certificate by the authorities that a server names.
  assert.equal((JSON.parse(late.body) as { accepted?: string }).accepted, PROXY_NAME);
});

test('a host without authorities vouches for no certificate, be it of one that the system trusts', async () => {
  await using running = await startDelegatedServer();
  const { host, proxyCa } = running;
  const { metadata } = authenticationConfig('', '');
  await publish(running, { metadata: metadata!, data: {} });
  assert.equal(running.delegation.clientCa, '');
  for (const identity of [await client(proxyCa, PROXY_NAME), await client(host.ca, 'rita', ['readers'])]) {
    assert.equal((await call(running, { identity, headers: AS_READER })).status, 401);
  }
  assert.equal((await call(running)).status, 403);
  await publish(running, authenticationConfig(host.ca.cert, proxyCa.cert));
  assert.equal((await call(running, { identity: await client(host.ca, 'rita', ['readers']) })).status, 200);
});

test('what makes no sense in the host’s ConfigMap, or its deletion, leaves what it said before', async () => {
  await using running = await startDelegatedServer();
  const { host, proxyCa } = running;
  const maps = host.client.resource(CONFIG_MAPS);
  const identity = await client(proxyCa, PROXY_NAME);
  const { metadata, ...broken } = authenticationConfig('nonsense', proxyCa.cert);
  await maps.update({ metadata: metadata!, ...broken });
  await maps.delete({ namespace: metadata!.namespace!, name: metadata!.name! });
  assert.equal((await call(running, { identity, headers: AS_READER })).status, 200);
  // What is made anew is followed.
  const changed = Promise.withResolvers<void>();
  running.delegation.onChange(changed.resolve);
  await maps.create(authenticationConfig(host.ca.cert, host.ca.cert));
  await changed.promise;
  assert.equal((await call(running, { identity, headers: AS_READER })).status, 401);
});

/** One connection that is kept. */
async function open(
  { url, ca }: DelegatedServer,
  identity: KeyPair,
): Promise<AsyncDisposable & { status(): Promise<number> }> {
  const { hostname, port } = new URL(url);
  const socket: TLSSocket = connect({
    host: hostname,
    port: Number(port),
    ca,
    ...identity,
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  return {
    status: async () => {
      const head = `GET ${WHOAMI_PATH} HTTP/1.1\r\nhost: x\r\nX-Remote-User: eve\r\nX-Remote-Group: readers\r\n\r\n`;
      socket.write(head);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1]);
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    },
  };
}
