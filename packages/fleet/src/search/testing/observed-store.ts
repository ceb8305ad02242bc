import type { SearchStore, Source } from '@asterism/store';

/** A store that tells of every write. */
export interface ObservedStore extends SearchStore {
  /** `list configmaps 2`, `finish configmaps`, `change configmaps +a -b`, `drop configmaps`, `drop alpha`: every write, in order. */
  readonly writes: string[];
  /** Resolves when `holds` does, which is asked now and after every write. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  /** The names of what is stored of a resource, by cluster and namespace: `alpha/demo/web`. */
  names(resource: string): Promise<string[]>;
  /** Makes the next write fail. */
  failNext(error: Error): void;
}

export function observeStore(store: SearchStore): ObservedStore {
  const writes: string[] = [];
  const waiting = new Set<() => void>();
  let failure: Error | undefined;
  const write = async <R>(what: string, action: () => Promise<R>): Promise<R> => {
    const error = failure;
    failure = undefined;
    if (error) throw error;
    const result = await action();
    writes.push(what);
    for (const look of waiting) look();
    return result;
  };
  return {
    writes,
    failNext: (error) => {
      failure = error;
    },
    async until(holds) {
      for (;;) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        const isOver = await holds();
        if (!isOver) await promise;
        waiting.delete(resolve);
        if (isOver) return;
      }
    },
    async names(resource) {
      const { rows } = await store.query({});
      return rows
        .filter((row) => row.resource === resource)
        .map(({ cluster, namespace, name }) => [cluster, ...(namespace ? [namespace] : []), name].join('/'))
        .sort();
    },
    source: (source) => store.source(source),
    sources: (cluster) => store.sources(cluster),
    query: (query) => store.query(query),
    usage: (cluster) => store.usage(cluster),
    reclaim: () => store.reclaim(),
    limit: (bytes) => store.limit(bytes),
    async beginReplace(source, options) {
      const replacement = await store.beginReplace(source, options);
      return {
        progress: replacement.progress,
        add: (rows, progress, share) =>
          write(`list ${source.resource} ${rows.length}`, () => replacement.add(rows, progress, share)),
        finish: (watermark) => write(`finish ${source.resource}`, () => replacement.finish(watermark)),
      };
    },
    applyChanges(source: Source, changes) {
      const names = [
        ...(changes.upserts ?? []).map(({ name }) => `+${name}`),
        ...(changes.deletes ?? []).map(({ name }) => `-${name}`),
      ];
      return write(['change', source.resource, ...names].join(' '), () => store.applyChanges(source, changes));
    },
    dropSource: (source) => write(`drop ${source.resource}`, () => store.dropSource(source)),
    dropCluster: (cluster) => write(`drop ${cluster}`, () => store.dropCluster(cluster)),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
