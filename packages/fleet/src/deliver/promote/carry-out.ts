import type { Client } from '@asterism/client';
import { isAlreadyExists, type KubeObject, NAMESPACES } from '@asterism/machinery';
import type { Promotion } from './plan-promotion.ts';

/** What became of one object of the hub. */
export interface Outcome {
  object: KubeObject;
  /** False: it stands there already. */
  created: boolean;
}

/**
 * Creates what a promotion needs in the hub, one after the other; what is there stays as it is. Broken off anywhere it leaves nothing that
 * changes a cluster before the last step, and done again it goes on. A field that the hub does not know is an error: without it the object
 * would lose it in its cluster.
 */
export async function* carryOut(
  hub: Client,
  { policy, templates }: Promotion,
  fieldManager?: string,
): AsyncGenerator<Outcome> {
  const { namespace } = policy.metadata;
  if (namespace) {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const made = await hub
      .resource(NAMESPACES)
      .create(object, { fieldManager })
      .then(() => true, ignoreExisting);
    if (made) yield { object, created: true };
  }
  for (const object of [policy as KubeObject, ...templates]) {
    const type = await hub.discovery.typeFor(object);
    const options = { fieldManager, fieldValidation: 'Strict' } as const;
    const created = await hub
      .resource(type)
      .create(object, options)
      .then(() => true, ignoreExisting);
    yield { object, created };
  }
}

function ignoreExisting(error: unknown): false {
  if (!isAlreadyExists(error)) throw error;
  return false;
}
