import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { ExtensionContext } from '@asterism/apiserver';
import { createTunnelHub, requestCarrier } from '@asterism/tunnel';
import { agentKeyGroup } from '../api/index.ts';
import { acceptTunnel } from './accept-tunnel.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const OFFER = { kind: 'upgrade', instance: 'a', slot: 0 } as const;

for (const kind of ['upgrade', 'websocket'] as const) {
  for (const verb of ['create', 'get']) {
    test(`by ${kind} the verb ${verb} alone ${verb === 'create' ? 'opens' : 'does not open'} a tunnel`, async () => {
      await using tunnels = createTunnelHub();
      const asked: object[] = [];
      const context = {
        request: { headers: requestCarrier(kind, OFFER).headers },
        user: { username: 'asterism:agent:edge-1', groups: [agentKeyGroup(KEY)] },
        name: 'edge-1',
        authorize: async (attributes: { verb: string }) => {
          asked.push(attributes);
          return { allowed: attributes.verb === verb, reason: '' };
        },
      } as unknown as ExtensionContext;
      const connections = {
        find: () => ({ unavailable: 'not yet' }),
        keyOf: async () => KEY,
        onChange: () => () => {},
        follow: () => {},
      };
      const [socket, agent] = duplexPair();
      const accepting = acceptTunnel(context, socket, Buffer.alloc(0), { connections, tunnels });
      if (verb === 'create') {
        await accepting;
        const [answer] = (await once(agent, 'data')) as [Buffer];
        assert.match(answer.toString(), /^HTTP\/1\.1 101 /);
      } else {
        await assert.rejects(accepting, { code: 403, message: /verb "create"/ });
        assert.equal(agent.read(), null, 'nothing is written');
      }
      const attach = { group: 'proxy.asterism.dev', version: 'v1alpha1', resource: 'clusters', subresource: 'attach' };
      assert.deepEqual(asked, [{ verb: 'create', ...attach, name: 'edge-1' }]);
    });
  }
}

const cuts: [name: string, after: { key: string | undefined; found: boolean }][] = [
  ['was bound to another key', { key: KEY.replaceAll('a', 'b'), found: true }],
  ['was deleted', { key: undefined, found: false }],
];
for (const [name, later] of cuts) {
  test(`an agent whose cluster ${name} while its connection was answered does not come in behind that`, async () => {
    await using tunnels = createTunnelHub();
    let state: typeof later = { key: KEY, found: true };
    const connections = {
      find: () => (state.found ? { unavailable: 'not yet' } : undefined),
      keyOf: async () => state.key,
      onChange: () => () => {},
      follow: () => {},
    };
    const socket = new Duplex({
      read() {},
      write(_chunk, _encoding, done) {
        state = later;
        done();
      },
    });
    const context = {
      request: { headers: requestCarrier('upgrade', OFFER).headers },
      user: { username: 'asterism:agent:edge-1', groups: [agentKeyGroup(KEY)] },
      name: 'edge-1',
      authorize: async () => ({ allowed: true, reason: '' }),
    } as unknown as ExtensionContext;
    await acceptTunnel(context, socket, Buffer.alloc(0), { connections, tunnels });
    assert.ok(socket.destroyed);
    assert.equal(tunnels.counters('edge-1'), undefined);
  });
}
