// The process behind AccessServers: API servers in one process, so that all of them run the same compiled code, from compiled packages.
// Plain JavaScript, so that Node need not load what strips types.
import { enableCompileCache } from 'node:module';

process.on('SIGINT', () => {}); // The parent decides.
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
enableCompileCache(process.env.BENCH_COMPILE_CACHE);
const { createApiServer, createMemoryStorage } = await import('@asterism/apiserver');
const { keepHeapCompact } = await import('@asterism/runtime');
keepHeapCompact(new AbortController().signal);

/** @param {import('./access-servers.ts').ToAccess} asked */
async function answer({ authorizations, options }) {
  const urls = [];
  for (const authorization of authorizations) {
    const listen = { host: '127.0.0.1', port: 0 };
    const server = createApiServer({ ...options, authorization, listen, storage: createMemoryStorage() });
    urls.push((await server.start()).url);
  }
  return { urls };
}

process.on('message', (/** @type {import('./access-servers.ts').ToAccess} */ message) => {
  answer(message).then(
    (result) => process.send?.(result),
    (/** @type {Error} */ error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ urls: [] });
