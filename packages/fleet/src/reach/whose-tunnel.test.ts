import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import type { ExtensionContext } from '@asterism/apiserver';
import { isStatusError } from '@asterism/machinery';
import { requestCarrier, type TunnelHub } from '@asterism/tunnel';
import { agentKeyGroup } from '../api/index.ts';
import type { ClusterConnections } from './cluster-connections.ts';
import { acceptTunnel } from './accept-tunnel.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const OFFER = { kind: 'short', slot: 0, instance: 'i' } as const;
const AGENT = { username: 'asterism:agent:edge-1', groups: ['asterism:agents', agentKeyGroup(KEY)] };

interface Attempt {
  user?: { username: string; groups: string[] };
  /** Of the Cluster; undefined: it has none. */
  key?: string | undefined;
  /** What happens while the answer is written. */
  meanwhile?: (cluster: { key: string | undefined }) => void;
}

async function attempt({ user = AGENT, meanwhile = () => {}, ...rest }: Attempt = {}) {
  const cluster = { key: 'key' in rest ? rest.key : KEY };
  let answer = '';
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      answer += chunk.toString();
      meanwhile(cluster);
      setImmediate(done);
    },
  });
  const connections = {
    keyOf: () => Promise.resolve(cluster.key),
    find: () => ({ unavailable: 'its agent is on its way' }),
  } as unknown as ClusterConnections;
  const accepted: string[] = [];
  const tunnels = { accept: (name: string) => void accepted.push(name) } as unknown as TunnelHub;
  const { headers } = requestCarrier('upgrade', OFFER);
  const authorize = async () => ({ allowed: true, reason: '' });
  const context = { request: { headers }, user, name: 'edge-1', authorize } as unknown as ExtensionContext;
  const error = await acceptTunnel(context, socket, Buffer.alloc(0), { connections, tunnels }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { accepted, answer, error, destroyed: socket.destroyed };
}

describe('a tunnel', () => {
  test('is taken from the agent that holds the cluster’s key', async () => {
    const { accepted, answer, destroyed } = await attempt();
    assert.deepEqual(accepted, ['edge-1']);
    assert.match(answer, /^HTTP\/1\.1 101 /);
    assert.equal(destroyed, false);
  });

  const shut: [who: string, attempt: Attempt][] = [
    ['an administrator', { user: { username: 'admin', groups: ['asterism:admins', agentKeyGroup(KEY)] } }],
    ['another agent', { user: { username: 'asterism:agent:edge-2', groups: AGENT.groups } }],
    ['the name without the key', { user: { ...AGENT, groups: ['asterism:agents'] } }],
    ['a key that was replaced', { key: OTHER }],
    ['a key that was taken away', { key: undefined }],
  ];
  for (const [who, row] of shut) {
    test(`is not taken from ${who}, and nothing is written`, async () => {
      const { accepted, answer, error } = await attempt(row);
      assert.ok(isStatusError(error, 'Forbidden'), String(error));
      assert.deepEqual([accepted, answer], [[], '']);
    });
  }

  test('is not taken from who was put out while he was answered', async () => {
    for (const key of [OTHER, undefined]) {
      const { accepted, destroyed } = await attempt({
        meanwhile: (cluster) => {
          cluster.key = key;
        },
      });
      assert.deepEqual([accepted, destroyed], [[], true]);
    }
  });
});
