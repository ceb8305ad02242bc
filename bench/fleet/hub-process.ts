// A process behind fleet.ts: an embedded hub. Arguments: its data dir, and its port (0: a free one).
import { Socket } from 'node:net';
import { API_VERSION, HUB_CONFIGURATION, HUB_CONFIGURATIONS } from '../../packages/fleet/src/api/index.ts';
import { createHub } from '../../packages/hub/src/index.ts';
import { keepHeapCompact, silentLogger } from '../../packages/runtime/src/index.ts';
import type { HubAnswer, ToHub } from './fleet.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const [dataDir = '', port = '0'] = process.argv.slice(2);
const hub = createHub({ dataDir, listen: { host: '127.0.0.1', port: Number(port) }, logger: silentLogger });
await hub.start();
keepHeapCompact(new AbortController().signal); // As `aster hub` does.

/** For clusters of which search keeps nothing. */
async function createToken(): Promise<HubAnswer> {
  const metadata = { name: HUB_CONFIGURATION };
  await hub.client
    .resource(HUB_CONFIGURATIONS)
    .create({ apiVersion: API_VERSION, kind: 'HubConfiguration', metadata, spec: { index: [] } });
  return { token: (await hub.createBootstrapToken({ autoApprove: true })).token };
}

/** What each connection to the hub has carried. */
async function readSockets(): Promise<HubAnswer> {
  const ownPort = Number(new URL(hub.url).port);
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
  const own = handles().filter((each): each is Socket => each instanceof Socket && each.localPort === ownPort);
  return { sockets: own.map(({ bytesRead, bytesWritten }) => ({ received: bytesRead, sent: bytesWritten })) };
}

process.on('message', ({ ask }: ToHub) => {
  const answering = ask === 'token' ? createToken() : readSockets();
  answering.then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ url: hub.url, caPin: hub.caPin, admin: hub.adminConnection });
