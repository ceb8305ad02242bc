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
import { DEFAULT_CLUSTER_ROLE_BINDINGS, DEFAULT_CLUSTER_ROLES, DEFAULT_NAMESPACE } from './default-objects.ts';

const FIELD_MANAGER = 'asterism-hub';
const DIGEST_ANNOTATION = 'asterism.dev/definition-digest';
const ESTABLISHED_WITHIN_MS = 10_000;

/**
 * Brings an API server to what this release of the hub needs: kinds, default roles, own namespace. Through the API alone, so the
 * server may be any. Definitions that are as they were are not sent again.
 */
export async function install(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, force: true, signal };
  await installDefinitions(client, clock, signal);
  await client.resource(NAMESPACES).apply(DEFAULT_NAMESPACE, options);
  for (const role of DEFAULT_CLUSTER_ROLES) await client.resource(CLUSTER_ROLES).apply(role, options);
  for (const binding of DEFAULT_CLUSTER_ROLE_BINDINGS)
    await client.resource(CLUSTER_ROLE_BINDINGS).apply(binding, options);
}

async function installDefinitions(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  const definitions = client.resource(CUSTOM_RESOURCE_DEFINITIONS);
  const installed = new Map(
    (await definitions.list({ signal })).items.map((item) => [
      item.metadata?.name,
      item.metadata?.annotations?.[DIGEST_ANNOTATION],
    ]),
  );
  const changed = (await customResourceDefinitions())
    .map(withDigest)
    .filter(({ metadata }) => installed.get(metadata?.name) !== metadata?.annotations?.[DIGEST_ANNOTATION]);
  for (const definition of changed) {
    await definitions.apply(definition, { fieldManager: FIELD_MANAGER, force: true, signal });
  }
  const deadline = clock.now() + ESTABLISHED_WITHIN_MS;
  for (const { metadata: { name = '' } = {} } of changed) {
    for (;;) {
      const { status } = await definitions.get({ name }, { signal });
      if (isConditionTrue(status?.conditions, 'Established')) break;
      if (clock.now() > deadline) throw new Error(`the API server does not establish ${name}: see its status`);
      await sleep(clock, 20, signal);
    }
  }
}

function withDigest(definition: CustomResourceDefinition): CustomResourceDefinition {
  const digest = createHash('sha256').update(JSON.stringify(definition.spec)).digest('hex').slice(0, 16);
  const annotations = { ...definition.metadata?.annotations, [DIGEST_ANNOTATION]: digest };
  return { ...definition, metadata: { ...definition.metadata, annotations } };
}
