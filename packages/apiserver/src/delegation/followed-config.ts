import type { Client, Clock } from '@asterism/client';
import { CONFIG_MAPS, type ConfigMap, isStatusError } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import type { ServerLogger } from '../contract/server-logger.ts';
import { type AuthenticationConfig, authoritiesOf, parseAuthenticationConfig } from './authentication-config.ts';

const REF = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const CONFIG_MAP = `${REF.namespace}/${REF.name}`;

interface FollowOptions {
  client: Client;
  clock: Clock;
  logger: ServerLogger | undefined;
  signal: AbortSignal;
}

/** The host's ConfigMap about authentication, as it is now. A deletion, or nonsense in it, leaves what it said before. */
export class FollowedConfig {
  /** Fulfilled when nothing is followed any more, after the signal. */
  readonly ended: Promise<void>;
  readonly #options: FollowOptions;
  readonly #listeners = new Set<() => void>();
  #current: AuthenticationConfig;

  /** Rejects where the ConfigMap cannot be read, or makes no sense. */
  static async start(options: FollowOptions): Promise<FollowedConfig> {
    const { client, signal } = options;
    const server = client.transport.server ?? 'the API server';
    let configMap: ConfigMap;
    try {
      configMap = await client.resource(CONFIG_MAPS).get(REF, { signal });
    } catch (error) {
      const remedy =
        isStatusError(error) && error.code === 403
          ? `; bind the Role ${REF.name}-reader of ${REF.namespace} to the identity that is used here`
          : '';
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`the ConfigMap ${CONFIG_MAP} of ${server} could not be read: ${why}${remedy}`, { cause: error });
    }
    try {
      return new FollowedConfig(options, configMap);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`the ConfigMap ${CONFIG_MAP} of ${server} makes no sense: ${why}`, { cause: error });
    }
  }

  private constructor(options: FollowOptions, configMap: ConfigMap) {
    this.#options = options;
    this.#current = parseAuthenticationConfig(configMap);
    this.#warnOfSharedAuthority();
    this.ended = this.#follow(configMap.metadata?.resourceVersion);
  }

  get current(): AuthenticationConfig {
    return this.#current;
  }

  /** Called when the authorities have changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #follow(resourceVersion: string | undefined): Promise<void> {
    const { client, clock, logger, signal } = this.#options;
    const events = watchResource(client.resource(CONFIG_MAPS), {
      namespace: REF.namespace,
      fieldSelector: `metadata.name=${REF.name}`,
      resourceVersion,
      clock,
      signal,
      onProgress: (progress) => {
        if (progress.state !== 'waiting') return;
        logger?.warn({ err: progress.error, configMap: CONFIG_MAP }, 'who may vouch for callers cannot be followed');
      },
    });
    for await (const event of events) {
      if (event.type === 'Delete') logger?.warn({ configMap: CONFIG_MAP }, 'it was deleted; what it said last holds');
      if ((event.type === 'Apply' || event.type === 'InitApply') && event.object.metadata?.name === REF.name) {
        this.#take(event.object);
      }
    }
  }

  #take(configMap: ConfigMap): void {
    const before = authoritiesOf(this.#current);
    try {
      this.#current = parseAuthenticationConfig(configMap);
    } catch (error) {
      this.#options.logger?.error({ err: error, configMap: CONFIG_MAP }, 'it makes no sense; what it said last holds');
      return;
    }
    if (authoritiesOf(this.#current) === before) return;
    this.#warnOfSharedAuthority();
    for (const listener of this.#listeners) listener();
  }

  #warnOfSharedAuthority(): void {
    const { clientCa, frontProxy } = this.#current;
    if (frontProxy === undefined || frontProxy.allowedNames.length > 0) return;
    if (!frontProxy.ca.some((proxyCa) => clientCa.some((ca) => ca.fingerprint256 === proxyCa.fingerprint256))) return;
    this.#options.logger?.warn(
      { configMap: CONFIG_MAP },
      'client certificates and the front proxy have one authority and no name is required: any client can speak for others; ' +
        'set --requestheader-allowed-names of the host',
    );
  }
}
