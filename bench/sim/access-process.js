// The process behind AccessServers: API servers in one process, so that all of them run the same compiled code, from compiled packages.
// Plain JavaScript, so that Node need not load what strips types.
import { enableCompileCache } from 'node:module';
import { Readable } from 'node:stream';

process.on('SIGINT', () => {}); // The parent decides.
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
enableCompileCache(process.env.BENCH_COMPILE_CACHE);
const { createApiServer, createMemoryStorage } = await import('@asterism/apiserver');
const { keepHeapCompact } = await import('@asterism/runtime');
keepHeapCompact(new AbortController().signal);

const NO_BODY = Readable.from([]);
const WARM_UP = 2_000;
const AT_ONCE = 16;
/** @type {import('@asterism/apiserver').ApiServer[]} */
const servers = [];

/** @param {import('./access-servers.ts').ToAccess} asked */
async function answer({ start, gets }) {
  const urls = [];
  for (const authorization of start?.authorizations ?? []) {
    const listen = { host: '127.0.0.1', port: 0 };
    const server = createApiServer({ ...start?.options, authorization, listen, storage: createMemoryStorage() });
    urls.push((await server.start()).url);
    servers.push(server);
  }
  return { urls, cpuMs: gets && (await measure(gets)) };
}

/** @param {import('./access-servers.ts').Gets} gets */
async function measure({ count, ...gets }) {
  await get({ ...gets, count: Math.min(count, WARM_UP) });
  const before = process.cpuUsage();
  await get({ ...gets, count });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** As a listener hands requests over, some at once, each with a header of its own. @param {import('./access-servers.ts').Gets} gets */
async function get({ server, count, paths, caller: { token, certificate } }) {
  const header = token === undefined ? undefined : Buffer.from(`Bearer ${token}`);
  const { signal } = new AbortController();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const { status } = await servers[server].handle({
        method: 'GET',
        path: paths[next++ % paths.length],
        query: new URLSearchParams(),
        headers: header ? { authorization: header.latin1Slice() } : {},
        body: () => Promise.resolve(new Uint8Array()),
        bodyStream: NO_BODY,
        signal,
        ...(certificate ? { peer: { certificate } } : {}),
      });
      if (status !== 200) throw new Error(`a GET was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

process.on('message', (/** @type {import('./access-servers.ts').ToAccess} */ message) => {
  answer(message).then(
    (result) => process.send?.(result),
    (/** @type {Error} */ error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ urls: [] });
