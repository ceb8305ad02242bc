import { isDeepStrictEqual } from 'node:util';
import {
  type Client,
  ClientError,
  type Clock,
  type Connection,
  createClient,
  createTransport,
  inClusterConnection,
  type InClusterOptions,
  kubeconfigPaths,
  loadKubeconfig,
  systemClock,
  type TransportOptions,
} from '@asterism/client';
import type { Logger } from '../log/logger.ts';
import { reasonOf } from './cluster-roster.ts';
import { followFiles } from './follow-files.ts';
import { isOtherCluster } from './is-other-cluster.ts';
import { foldersOf } from './kubeconfig-source.ts';
import { filesOf, readConnection } from './read-connection.ts';

/**
 * Which cluster to connect to, and as whom.
 *
 * @example {@link connectToCluster}
 */
export interface ConnectOptions {
  /** Told of new credentials, and of files that make no sense; never what is secret. */
  logger: Logger;
  /** A kubeconfig. Without it: the files of `$KUBECONFIG`, or the pod's service account, or `~/.kube/config`. */
  path?: string | undefined;
  /** A context of the kubeconfig. Default: the one that is current at the start. */
  context?: string | undefined;
  /** Of the client: `User-Agent`. */
  userAgent?: string | undefined;
  /** Of the client: the field manager of writes that name none. */
  fieldManager?: string | undefined;
  transport?: TransportOptions | undefined;
  /** How often the files are read though no change was told (some file systems tell of none), in ms. Default 30 s. */
  rereadMs?: number | undefined;
  /** Where a pod's service account is, for tests. */
  inCluster?: InClusterOptions | undefined;
  clock?: Clock | undefined;
}

/**
 * A cluster, for as long as it is not disposed of.
 *
 * @example {@link connectToCluster}
 */
export interface ConnectedCluster extends AsyncDisposable {
  readonly client: Client;
}

const REREAD_MS = 30_000;

/**
 * A client of the cluster that this process is to work with, looked for where controller-runtime looks: a kubeconfig that is named,
 * `$KUBECONFIG`, the pod's service account, `~/.kube/config`. Disposing of it ends all that is open.
 *
 * The files are followed, those of certificates among them: new credentials count for the next request, and what runs may end on
 * the old ones. Tokens in files are read every minute, credential plugins asked again before what they gave expires, in any case.
 * A file that makes no sense, or that leads to another cluster, is reported (`logger.warn`) and changes nothing.
 *
 * @throws ClientError when there is nothing to connect to, or it makes no sense.
 * @example
 * ```ts
 * await using main = await connectToCluster({ logger, userAgent: 'my-operator' });
 * const manager = createManager({ client: main.client, logger });
 * ```
 */
export async function connectToCluster(options: ConnectOptions): Promise<ConnectedCluster> {
  const { logger, userAgent, fieldManager, clock = systemClock, rereadMs = REREAD_MS } = options;
  const source = await sourceOf(options);
  let { connection } = await source.read();
  const transport = createTransport(connection, { clock, ...options.transport });
  let problem: string | undefined;
  const report = (reason: string): void => {
    if (reason !== problem) logger.warn({ source: source.label, reason }, `${source.label} is not followed: ${reason}`);
    problem = reason;
  };
  const scan = async (): Promise<ReadonlySet<string>> => {
    try {
      const { connection: next, files } = await source.read();
      if (isOtherCluster(connection, next))
        report('it leads to another cluster, for which this process is to start anew');
      else {
        problem = undefined;
        if (!isDeepStrictEqual(connection, next)) {
          connection = next;
          transport.replaceConnection(next);
          logger.info({ source: source.label }, 'the credentials were replaced');
        }
      }
      return await foldersOf(files);
    } catch (error) {
      report(reasonOf(error));
      return await foldersOf(source.paths);
    }
  };
  const ending = new AbortController();
  const following = followFiles({ scan, rereadMs, clock, logger, signal: ending.signal });
  return {
    client: createClient({ transport, userAgent, fieldManager, clock }),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await following;
      await transport.close();
    },
  };
}

/** Where the connection is read from. */
interface Source {
  label: string;
  paths: readonly string[];
  /** With all the files that it was read from. */
  read(): Promise<{ connection: Connection; files: readonly string[] }>;
}

async function sourceOf({ path, context, inCluster = {} }: ConnectOptions): Promise<Source> {
  const env = inCluster.env ?? process.env;
  const isNamed = path !== undefined || context !== undefined || (env['KUBECONFIG'] ?? '') !== '';
  if (!isNamed && env['KUBERNETES_SERVICE_HOST']) return podSource(inCluster);
  const paths = kubeconfigPaths(path);
  const chosen = context ?? (await loadKubeconfig(path))['current-context'];
  if (!chosen) throw new ClientError(`${paths.join(', ')} has no current-context`, { code: 'ERR_KUBECONFIG' });
  return {
    label: `context "${chosen}" of ${paths.join(', ')}`,
    paths,
    async read() {
      const kubeconfig = await loadKubeconfig(path);
      const connection = await readConnection(kubeconfig, { context: chosen, trusted: true });
      return { connection, files: [...paths, ...filesOf(kubeconfig, chosen).values()] };
    },
  };
}

function podSource(options: InClusterOptions): Source {
  const read = async () => {
    const connection = await inClusterConnection(options);
    const { credential } = connection;
    return { connection, files: credential.kind === 'tokenFile' ? [credential.path] : [] };
  };
  return { label: "the pod's service account", paths: [], read };
}
