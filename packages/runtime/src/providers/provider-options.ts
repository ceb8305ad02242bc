import type { Clock, TransportOptions } from '@asterism/client';
import type { Logger } from '../log/logger.ts';

/**
 * What every provider of this package takes.
 *
 * @example {@link createSecretProvider}
 */
export interface ProviderOptions {
  /** Told of clusters that cannot be had: which, from where and why, never what is secret. */
  logger: Logger;
  /** In logs; by default the provider's kind. */
  name?: string | undefined;
  /** Of the clusters' connections. One `execCredentials` is shared by all, unless one is given. */
  transport?: TransportOptions | undefined;
  /** Of the clusters' clients: `User-Agent`. */
  userAgent?: string | undefined;
  /** Of the clusters' clients: the field manager of writes that name none. */
  fieldManager?: string | undefined;
  clock?: Clock | undefined;
}
