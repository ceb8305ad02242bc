import type { ClusterProvider } from '../cluster/cluster.ts';
import { ClusterRoster } from './cluster-roster.ts';
import { followFiles } from './follow-files.ts';
import { KubeconfigSource } from './kubeconfig-source.ts';
import type { ProviderOptions } from './provider-options.ts';

/**
 * Which contexts are clusters, and what they are called.
 *
 * @example {@link createKubeconfigContextProvider}
 */
export interface KubeconfigContextProviderOptions extends ProviderOptions {
  /** A file; without it those of `$KUBECONFIG`, merged as kubectl merges them, or `~/.kube/config`. */
  path?: string | undefined;
  /** Which contexts are clusters. Default `all`. */
  contexts?: 'all' | readonly string[] | undefined;
  /** By default the context's own name. */
  clusterName?: ((context: string) => string) | undefined;
  /** How often the files are read though no change was told (some file systems tell of none), in ms. Default 30 s. */
  rereadMs?: number | undefined;
}

/** How often files are read where no change is told. */
const REREAD_MS = 30_000;

/**
 * The contexts of a kubeconfig as clusters, followed as the files change, those of certificates and keys among them: a context
 * that is added is engaged, one that is taken out leaves, new credentials replace the old ones and drop no store.
 *
 * A file, or a context, that makes no sense is reported (`logger.warn`) and changes nothing; a file that is gone takes its
 * clusters along. It never fails, whatever the files say.
 *
 * @example
 * ```ts
 * const provider = createKubeconfigContextProvider({ contexts: ['paris', 'lyon'], logger });
 * const manager = createManager({ client, providers: [provider], logger });
 * ```
 */
export function createKubeconfigContextProvider(options: KubeconfigContextProviderOptions): ClusterProvider {
  const { path, contexts = 'all', clusterName = (context) => context, rereadMs = REREAD_MS } = options;
  const name = options.name ?? 'kubeconfig contexts';
  return {
    name,
    async run(engage, signal) {
      const roster = new ClusterRoster({ ...options, name }, engage, signal);
      const source = new KubeconfigSource({ roster, path, contexts, clusterName });
      const scan = async (): Promise<ReadonlySet<string>> => {
        try {
          return await source.read();
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') source.lose(error);
          else source.fail(error);
          return source.folders();
        }
      };
      await followFiles({ scan, rereadMs, clock: roster.clock, logger: roster.logger, signal });
    },
  };
}
