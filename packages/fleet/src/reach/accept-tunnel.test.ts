import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { ExtensionContext } from '@asterism/apiserver';
import { createTunnelHub, requestCarrier } from '@asterism/tunnel';
import { agentKeyGroup } from '../api/index.ts';
import { acceptTunnel } from './accept-tunnel.ts';

const OFFER = { kind: 'upgrade', instance: 'a', slot: 0 } as const;

for (const kind of ['upgrade', 'websocket'] as const) {
  for (const verb of ['create', 'get']) {
    test(`by ${kind} the verb ${verb} alone ${verb === 'create' ? 'opens' : 'does not open'} a tunnel`, async () => {
      await using tunnels = createTunnelHub();
      const asked: object[] = [];
      const context = {
        request: { headers: requestCarrier(kind, OFFER).headers },
        user: { username: 'asterism:agent:edge-1', groups: [agentKeyGroup('k')] },
        name: 'edge-1',
        authorize: async (attributes: { verb: string }) => {
          asked.push(attributes);
          return { allowed: attributes.verb === verb, reason: '' };
        },
      } as unknown as ExtensionContext;
      const connections = {
        find: () => ({ unavailable: 'not yet' }),
        keyOf: async () => 'k',
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
