import { type Client, ClientError, parseKubeconfig } from '@asterism/client';
import { SECRETS, type Secret } from '@asterism/machinery';
import { InformerCache } from '../cache/cache.ts';
import type { ClusterProvider } from '../cluster/cluster.ts';
import type { Informer } from '../cache/informer.ts';
import { ClusterRoster } from './cluster-roster.ts';
import type { ProviderOptions } from './provider-options.ts';
import { readConnection } from './read-connection.ts';

/**
 * What providers of kubeconfigs in Secrets have in common.
 *
 * @example {@link createSecretProvider}
 */
export interface SecretsOptions extends ProviderOptions {
  /** Of the cluster that has the Secrets: mostly the manager's own. It must be allowed to list and watch them. */
  client: Client;
  /** Where they are. Without it they are looked for in all namespaces. */
  namespace?: string | undefined;
  /** Which Secrets, if not those of the default. */
  labelSelector?: string | undefined;
  /**
   * Let the kubeconfigs name programs to run (`exec`) and files to read on this machine. Default false: whoever may write such a
   * Secret could otherwise run what they like here, and send what they like away.
   */
  trusted?: boolean | undefined;
  random?: (() => number) | undefined;
}

export interface SecretSelection {
  name: string;
  labelSelector: string;
  /** The entry of `data` that is the kubeconfig. */
  key: string;
  /** The context in it; its current one, unless given. */
  context?: string | undefined;
  /** The cluster of this Secret; undefined where it is none. */
  clusterName: (secret: Secret) => string | undefined;
}

/** After how long it is said that the Secrets cannot be listed, and how often again. */
const REPORT_MS = 30_000;

/** Follows Secrets, each of which is a kubeconfig, through every failure of their server. */
export function followSecrets(options: SecretsOptions, selection: SecretSelection): ClusterProvider {
  const { name, labelSelector, key, clusterName } = selection;
  let following: InformerCache | undefined;
  return {
    name,
    status: () =>
      (following?.status() ?? []).map((status) => ({ ...status, resource: `${status.resource} (${name})` })),
    async run(engage, signal) {
      const roster = new ClusterRoster({ ...options, name }, engage, signal);
      const { client, namespace, random = Math.random } = options;
      // Of its own: a selection of Secrets among the manager's informers could be taken for the one of all Secrets.
      const cache = new InformerCache(client, { clock: roster.clock, random, logger: roster.logger });
      const transform = (secret: Secret): Secret =>
        keepOnly(clusterName(secret) === undefined ? undefined : key, secret);
      const informer = cache.informer(SECRETS, { namespace, labelSelector, transform });
      const take = (secret: Secret): void => {
        const cluster = clusterName(secret);
        const source = sourceOf(secret);
        if (cluster === undefined) roster.withdraw(source);
        else void roster.update(source, async () => ({ name: cluster, connection: await connectionOf(secret) }));
      };
      const connectionOf = async (secret: Secret) => {
        const { context } = selection;
        return readConnection(await parseKubeconfig(textOf(secret, key)), {
          context,
          trusted: options.trusted === true,
        });
      };
      informer.addHandler({
        onAdd: take,
        onUpdate: (_, secret) => take(secret),
        onDelete: (secret) => roster.withdraw(sourceOf(secret)),
      });
      const cancelReport = reportWaiting(informer, labelSelector, roster);
      following = cache;
      cache.start(new AbortController().signal); // It is stopped below, and waited for.
      await ended(signal);
      cancelReport();
      following = undefined;
      await cache.stop();
    },
  };
}

function sourceOf({ metadata }: Secret): string {
  return `Secret ${metadata?.namespace}/${metadata?.name}`;
}

/** Nothing else of a Secret is any business of this process. */
function keepOnly(key: string | undefined, secret: Secret): Secret {
  const value = key === undefined ? undefined : secret.data?.[key];
  return { ...secret, data: key === undefined || value === undefined ? {} : { [key]: value } };
}

function textOf({ data }: Secret, key: string): string {
  const text = data?.[key];
  if (!text) throw new ClientError(`its data has no "${key}"`, { code: 'ERR_KUBECONFIG' });
  return Buffer.from(text, 'base64').toString('utf8');
}

/** Says, until cancelled, that the Secrets are not there yet, and why. */
function reportWaiting(informer: Informer, labelSelector: string, { clock, logger }: ClusterRoster): () => void {
  const report = (): void => {
    if (informer.hasSynced) return;
    const { code, message = 'no answer yet' } = informer.status;
    logger.warn({ code, labelSelector }, `still waiting for the list of Secrets with clusters: ${message}`);
    cancel = clock.setTimer(report, REPORT_MS, { background: true });
  };
  let cancel = clock.setTimer(report, REPORT_MS, { background: true });
  return () => cancel();
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
