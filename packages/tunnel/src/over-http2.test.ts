import { test } from 'node:test';
import { DEFAULT_CONNECTIONS } from './agent/run-tunnel-agent.ts';
import { execSocket, SWITCH } from './testing/exec.ts';
import { offerNoFrames, startTunnel, until } from './testing/start-tunnel.ts';

/** Whatever the tunnel does over frames it does over HTTP/2, with an end that knows of nothing else: the same suites once more. */
offerNoFrames();
await import('./flow.test.ts');
await import('./life.test.ts');
await import('./requests.test.ts');
await import('./spare-connections.test.ts');

test('a hub that cannot ask for byte pipes finds one, each time', async () => {
  await using tunnel = await startTunnel({ onUpgrade: (_request, socket) => socket.write(SWITCH) });
  await tunnel.startAgent('edge', { connections: DEFAULT_CONNECTIONS });
  for (let taken = 1; taken <= 3; taken++) {
    await until(() => (tunnel.hub.counters('edge')?.connections.upgrade ?? 0) >= taken);
    await execSocket(tunnel.hub.transport('edge'));
  }
});
