import { createHash } from 'node:crypto';
import { type Client, type Clock, sleep } from '@asterism/client';
import { customResourceDefinitions } from '@asterism/fleet/api';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  isConditionTrue,
  NAMESPACES,
} from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import { DEFAULT_NAMESPACE, type DefaultRoles } from './default-objects.ts';
import { ensureApplied, FIELD_MANAGER, getIntact } from './ensure-applied.ts';
import { compareReleases, ownRelease } from './release.ts';

const DIGEST_ANNOTATION = 'asterism.dev/definition-digest';
/** Which release of the hub last changed the definition. */
const RELEASE_ANNOTATION = 'asterism.dev/release';
const ESTABLISHED_WITHIN_MS = 10_000;

export interface InstallOptions {
  roles: DefaultRoles;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Of this hub. Default: its package's. */
  release?: string | undefined;
  /** Default: those of `asterism.dev`. */
  definitions?: readonly CustomResourceDefinition[] | undefined;
}

/**
 * Brings an API server to what this release of the hub needs: kinds, default roles, own namespace. Through the API alone, so the
 * server may be any. What is as it should be is not sent again, and definitions of a newer release stay as they are: they serve
 * what this release knows, and its objects are there already.
 */
export async function install(client: Client, options: InstallOptions): Promise<void> {
  const { roles, signal } = options;
  await installDefinitions(client, options);
  await ensureApplied(client, NAMESPACES, DEFAULT_NAMESPACE, signal);
  for (const role of roles.clusterRoles) await ensureApplied(client, CLUSTER_ROLES, role, signal);
  for (const binding of roles.bindings) await ensureApplied(client, CLUSTER_ROLE_BINDINGS, binding, signal);
}

/**
 * The kinds alone, as {@link install}. One that is being deleted is left to that: its objects may still have to go in good
 * order, for which it must be served. Resolves with the names of those that were installed.
 */
export async function installDefinitions(client: Client, options: Omit<InstallOptions, 'roles'>): Promise<string[]> {
  const { clock, logger, signal, release = ownRelease() } = options;
  const definitions = client.resource(CUSTOM_RESOURCE_DEFINITIONS);
  const find = (name: string): Promise<CustomResourceDefinition | undefined> =>
    getIntact(client, CUSTOM_RESOURCE_DEFINITIONS, { name }, signal);
  const wanted = (options.definitions ?? (await customResourceDefinitions())).map((each) => annotated(each, release));
  const waiting: string[] = [];
  for (const definition of wanted) {
    const { name = '', annotations } = definition.metadata ?? {};
    const live = await find(name);
    if (live?.metadata?.deletionTimestamp !== undefined) {
      logger.warn({ definition: name }, `${name} is being deleted, and with it all that is of this kind`);
      continue;
    }
    const newer = live?.metadata?.annotations?.[RELEASE_ANNOTATION] ?? '';
    if (live?.metadata?.annotations?.[DIGEST_ANNOTATION] === annotations?.[DIGEST_ANNOTATION]) continue;
    if (compareReleases(newer, release) > 0) {
      const fields = { definition: name, installed: newer, release };
      logger.warn(fields, `${name} is of a newer hub (${newer}) and stays as it is: upgrade this hub (${release})`);
      continue;
    }
    await definitions.apply(definition, { fieldManager: FIELD_MANAGER, force: true, signal });
    waiting.push(name);
  }
  const deadline = clock.monotonic() + ESTABLISHED_WITHIN_MS;
  for (const name of waiting) {
    while (!isConditionTrue((await find(name))?.status?.conditions, 'Established')) {
      if (clock.monotonic() > deadline) throw new Error(`the API server does not establish ${name}: see its status`);
      await sleep(clock, 20, signal);
    }
  }
  return waiting;
}

function annotated(definition: CustomResourceDefinition, release: string): CustomResourceDefinition {
  const digest = createHash('sha256').update(JSON.stringify(definition.spec)).digest('hex').slice(0, 16);
  const annotations = {
    ...definition.metadata?.annotations,
    [DIGEST_ANNOTATION]: digest,
    [RELEASE_ANNOTATION]: release,
  };
  return { ...definition, metadata: { ...definition.metadata, annotations } };
}
