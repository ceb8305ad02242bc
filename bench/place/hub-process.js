// The hub behind PairUnderTest: embedded, as `aster hub` runs it, from compiled packages. Plain JavaScript, so that Node need not load
// what strips types. Argument: its data dir.
import { enableCompileCache } from 'node:module';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));
enableCompileCache(process.env.BENCH_COMPILE_CACHE);
const { API_VERSION, HUB_CONFIGURATION, HUB_CONFIGURATIONS } = await import('@asterism/fleet/api');
const { createHub } = await import('@asterism/hub');
const { keepHeapCompact, silentLogger } = await import('@asterism/runtime');
const [dataDir = ''] = process.argv.slice(2);
const hub = createHub({ dataDir, listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
await hub.start();
keepHeapCompact(new AbortController().signal);
// Of clusters that join, search keeps nothing.
await hub.client.resource(HUB_CONFIGURATIONS).create({
  apiVersion: API_VERSION,
  kind: 'HubConfiguration',
  metadata: { name: HUB_CONFIGURATION },
  spec: { index: [] },
});
process.send?.({ admin: hub.adminConnection });
