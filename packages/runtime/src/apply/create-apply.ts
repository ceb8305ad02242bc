import type { Client } from '@asterism/client';
import { formatApiVersion, type KubeObject, type ResourceType } from '@asterism/machinery';
import type { ApplyConfiguration, ApplyStatusConfiguration } from './apply-configuration.ts';

/**
 * Who applies, and what becomes of conflicts.
 *
 * @example {@link createApply}
 */
export interface ApplierOptions {
  /** Under what name the fields are owned; at most 128 characters. It must stay the same from release to release. */
  fieldManager: string;
  /**
   * Take fields from other managers. Default true, as a controller should that is the one to decide them. False: a field that
   * another manager has with another value is a 409 whose `details.causes` name it.
   */
  force?: boolean | undefined;
}

/**
 * Of one call.
 *
 * @example {@link createApply}
 */
export interface ApplyCallOptions {
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Server-side apply under one name. Every call gives the object as it stands then.
 *
 * @example {@link createApply}
 */
export interface Apply {
  /**
   * Makes the object so, and creates it where there is none.
   *
   * @throws StatusError 409 for a conflict (without `force`), 422 for what the server finds invalid, 500 for fields that the kind
   * does not have; ClientError without an answer.
   */
  <T extends KubeObject>(
    client: Client,
    type: ResourceType<T>,
    configuration: ApplyConfiguration<NoInfer<T>>,
    options?: ApplyCallOptions,
  ): Promise<T>;
  /**
   * The same of the status. It creates nothing.
   *
   * @throws StatusError as above, and 404 where there is no such object.
   */
  status<T extends KubeObject>(
    client: Client,
    type: ResourceType<T>,
    configuration: ApplyStatusConfiguration<NoInfer<T>>,
    options?: ApplyCallOptions,
  ): Promise<T>;
}

/**
 * Server-side apply with types: what is given is checked against the kind's shape, `apiVersion` and `kind` are filled in, and the
 * manager's name is said once.
 *
 * @example
 * ```ts
 * const apply = createApply({ fieldManager: 'settings.example.dev' });
 * const metadata = { namespace: 'shop', name: 'web' };
 * await apply(cluster.client, CONFIG_MAPS, { metadata, data: { colour: 'blue' } }, { signal });
 * await apply.status(cluster.client, JOBS, { metadata, status: { ready: 1 } }, { signal });
 * ```
 */
export function createApply({ fieldManager, force = true }: ApplierOptions): Apply {
  const send = async <T extends KubeObject>(
    client: Client,
    type: ResourceType<T>,
    configuration: object,
    { dryRun, signal }: ApplyCallOptions = {},
    subresource?: string,
  ): Promise<T> => {
    const object = { apiVersion: formatApiVersion(type), kind: type.kind, ...configuration } as unknown as T;
    const options = { fieldManager, force, dryRun, signal, subresource };
    return await client.resource(type).apply(object, options);
  };
  const apply: Apply = (client, type, configuration, options) => send(client, type, configuration, options);
  apply.status = (client, type, configuration, options) => send(client, type, configuration, options, 'status');
  return apply;
}
