// A process behind fleet.ts: an embedded hub. Arguments: its data dir, and its port (0: a free one).
import { createHub } from '../../packages/hub/src/index.ts';
import { silentLogger } from '../../packages/runtime/src/index.ts';
import type { HubAnswer } from './fleet.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const [dataDir = '', port = '0'] = process.argv.slice(2);
const hub = createHub({ dataDir, listen: { host: '127.0.0.1', port: Number(port) }, logger: silentLogger });
await hub.start();
process.on('message', () => {
  global.gc?.();
  hub.createBootstrapToken({ autoApprove: true }).then(
    ({ token }) => process.send?.({ token } satisfies HubAnswer),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ url: hub.url, caPin: hub.caPin, admin: hub.adminConnection });
