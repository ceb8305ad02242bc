// The process behind watches.ts: informers of one library on many clusters, which are one server under many connections.
import { AUTHORITY } from '../../packages/client/src/testing/certificates.ts';
import type { ClientAnswer, ToClient, ToOpen } from './watches.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

let seen = 0;
let wanted = Number.POSITIVE_INFINITY;
let reached = (): void => {};
const note = (): void => {
  if (++seen >= wanted) reached();
};

async function openOurs({ url, clusters, kinds }: ToOpen): Promise<void> {
  const { createClient, createTransport } = await import('@asterism/client');
  const { createManager, keepHeapCompact, silentLogger } = await import('@asterism/runtime');
  keepHeapCompact(new AbortController().signal);
  const clientOf = () => {
    const credential = { kind: 'token', token: 'bench' } as const;
    return createClient({ transport: createTransport({ server: url, caData: AUTHORITY, credential }) });
  };
  const synced: Promise<void>[] = [];
  const engaged = Promise.withResolvers<void>();
  const manager = createManager({
    client: clientOf(),
    logger: silentLogger,
    providers: [
      {
        async run(engage, signal) {
          for (let cluster = 0; cluster < clusters; cluster++) engage(`cluster-${cluster}`, clientOf());
          engaged.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      },
    ],
  });
  manager.onEngage(({ cache }) => {
    for (let kind = 0; kind < kinds; kind++) {
      const resource = `kind${kind}s`;
      const type = { group: 'bench.example', version: 'v1', resource, kind: `Kind${kind}`, namespaced: true };
      const informer = cache.informer(type);
      informer.addHandler({ onAdd: note, onUpdate: note });
      synced.push(informer.synced());
    }
  });
  manager.start(new AbortController().signal).catch((error: Error) => process.send?.({ failure: error.message }));
  await engaged.promise;
  await Promise.all(synced);
}

async function openTheirs({ url, clusters, kinds }: ToOpen): Promise<void> {
  const { KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  for (let cluster = 0; cluster < clusters; cluster++) {
    const config = new KubeConfig();
    const name = `cluster-${cluster}`;
    config.loadFromOptions({
      clusters: [{ name, server: url, caData: Buffer.from(AUTHORITY).toString('base64') }],
      users: [{ name, token: 'bench' }],
      contexts: [{ name, cluster: name, user: name }],
      currentContext: name,
    });
    for (let kind = 0; kind < kinds; kind++) {
      const list = () => Promise.resolve({ metadata: { resourceVersion: '1000' }, items: [] });
      const informer = makeInformer(config, `/apis/bench.example/v1/kind${kind}s`, list);
      informer.on('add', note);
      informer.on('update', note);
      await informer.start();
    }
  }
}

async function answer(asked: ToClient): Promise<ClientAnswer> {
  if ('load' in asked) {
    if (asked.load === 'ours') await import('@asterism/runtime');
    else await import('@kubernetes/client-node');
  } else if ('open' in asked) await (asked.open.who === 'ours' ? openOurs(asked.open) : openTheirs(asked.open));
  else if ('until' in asked) {
    wanted = asked.until;
    if (seen < wanted) await new Promise<void>((resolve) => (reached = resolve));
  }
  (globalThis as { gc?: () => void }).gc?.();
  return { seen };
}

process.on('message', (message: ToClient) => {
  answer(message).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ seen: 0 } satisfies ClientAnswer);
