// A process behind way.ts: the agent's end of our tunnel. Arguments: the ports of hub and target.
import { once } from 'node:events';
import { connect } from 'node:tls';
import { createTransport } from '../../packages/client/src/index.ts';
import { AUTHORITY } from '../../packages/client/src/testing/certificates.ts';
import { runTunnelAgent, upgradeToTunnel } from '../../packages/tunnel/src/index.ts';
import { keepHeapCompact } from '../../packages/runtime/src/index.ts';

keepHeapCompact(new AbortController().signal); // As `aster agent` does.
process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const [hub = 0, target = 0] = process.argv.slice(2).map(Number);
void runTunnelAgent({
  dial: async (offer, signal) => {
    const socket = connect({ port: hub, host: '127.0.0.1', ca: AUTHORITY, minVersion: 'TLSv1.3' });
    await once(socket, 'secureConnect', { signal });
    return await upgradeToTunnel(socket, { path: '/', host: 'hub', offer, signal });
  },
  target: createTransport({
    server: `https://127.0.0.1:${target}`,
    caData: AUTHORITY,
    credential: { kind: 'none' },
  }),
  onStateChange: ({ state }) => state === 'connected' && process.send?.({}),
  signal: new AbortController().signal,
});
