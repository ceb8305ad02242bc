// The process behind startOurServer: what a user runs in production. Compiled packages (`npm run build`), as npm brings them, and
// Node's compile cache, as bin/aster.js has it; or, with the condition asterism-source, the sources as they are. Plain JavaScript, so
// that Node need not load what strips types.
import { once } from 'node:events';
import { enableCompileCache } from 'node:module';

process.on('SIGINT', () => {}); // The parent decides.
const asked = once(process, 'message');
const [config] = /** @type {[import('./our-server.ts').OurServerConfig]} */ (await asked);
enableCompileCache(config.compileCache);
const { createApiServer, createSqliteStorage } = await import('@asterism/apiserver');
const { keepHeapCompact } = await import('@asterism/runtime');
const server = createApiServer({
  storage: createSqliteStorage({ file: config.file, synchronous: config.synchronous }),
  listen: { host: '127.0.0.1', port: 0 },
  tls: config.tls,
  clientCa: config.ca.cert,
  signer: config.ca,
  // As the server beside it: there are no controllers to make accounts, and pods stay as they were sent.
  admissionPlugins: { disable: ['ServiceAccount'] },
  staticTokens: [
    { token: config.adminToken, ...config.admin },
    { token: config.userToken, ...config.user },
  ],
});
const stop = () => {
  void server.stop().then(() => process.exit(0));
};
process.on('SIGTERM', stop);
process.on('disconnect', stop);
const { url } = await server.start();
process.send?.({ url });
keepHeapCompact(new AbortController().signal);
