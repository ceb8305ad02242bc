import type { Client } from '@asterism/client';
import {
  CLUSTER_RESOURCE_BINDINGS,
  RESOURCE_BINDINGS,
  SYSTEM_NAMESPACE,
  TEMPLATES_CONFIG_MAP,
} from '@asterism/fleet/api';
import { CONFIG_MAPS, isAlreadyExists, isNotFound } from '@asterism/machinery';
import { FIELD_MANAGER } from './ensure-applied.ts';
import { HubError } from './hub-error.ts';

/** Where a hub looks for templates: in the host, or in the store of that id. */
export type TemplatesHome = { in: 'host' } | { in: 'embedded'; store: string };

export type TemplatesDecision =
  | { verdict: 'Fine' }
  /** To be written down: from now on they live there. */
  | { verdict: 'Record' }
  /** To be struck out: they live in the host again. */
  | { verdict: 'Forget' }
  | { verdict: 'Refuse'; message: string };

const RECORD = { namespace: SYSTEM_NAMESPACE, name: TEMPLATES_CONFIG_MAP };
const WHERE = `ConfigMap ${RECORD.namespace}/${RECORD.name} in the host`;

/**
 * Whether a hub may look for templates there. One that looks in the wrong place finds none, and would take everything that was
 * placed from where they really are out of the members.
 *
 * @param recorded id of the embedded store that holds the fleet's templates; undefined: none does.
 * @param placed whether anything is placed in the fleet.
 */
export function decideTemplatesHome(
  home: TemplatesHome,
  recorded: string | undefined,
  placed: boolean,
): TemplatesDecision {
  if (home.in === 'embedded') {
    if (recorded === home.store) return { verdict: 'Fine' };
    if (recorded !== undefined) {
      return refuse(
        `the templates of this fleet live in another embedded store (${recorded}, recorded in ${WHERE}), and this data ` +
          `directory holds store ${home.store}. Start the hub with the data directory that holds theirs; only if that one ` +
          'is lost, restore it from a backup, or delete the ConfigMap to begin anew: what was placed from it then goes',
      );
    }
    return placed
      ? refuse(
          "the templates of this fleet live in the host: things are placed from there. Start the hub with templates 'host', " +
            'or delete the policies that place them first',
        )
      : { verdict: 'Record' };
  }
  if (recorded === undefined) return { verdict: 'Fine' };
  return placed
    ? refuse(
        `the templates of this fleet live in the embedded store ${recorded} (${WHERE}), and things are placed from there. ` +
          "Start the hub with templates 'embedded' and the data directory that holds them, or delete the policies that " +
          'place them first',
      )
    : { verdict: 'Forget' };
}

/** Makes sure of it in the host. Throws `HubError` `TemplatesElsewhere`. Several hubs that begin at the same time agree on one. */
export async function claimTemplatesHome(host: Client, home: TemplatesHome, signal: AbortSignal): Promise<void> {
  const maps = host.resource(CONFIG_MAPS);
  for (;;) {
    const record = await maps.get(RECORD, { signal }).catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const decision = decideTemplatesHome(home, record?.data?.['store'], await isAnythingPlaced(host, signal));
    switch (decision.verdict) {
      case 'Fine':
        return;
      case 'Refuse':
        throw new HubError('TemplatesElsewhere', decision.message);
      case 'Forget':
        await maps.delete(RECORD, { signal }).catch((error) => {
          if (!isNotFound(error)) throw error;
        });
        return;
      case 'Record':
        try {
          const data = { store: home.in === 'embedded' ? home.store : '' };
          await maps.create({ metadata: RECORD, data }, { fieldManager: FIELD_MANAGER, signal });
          return;
        } catch (error) {
          if (!isAlreadyExists(error)) throw error; // another hub was faster: look what it says
        }
    }
  }
}

async function isAnythingPlaced(host: Client, signal: AbortSignal): Promise<boolean> {
  const one = { limit: 1, signal };
  const namespaced = await host.resource(RESOURCE_BINDINGS).list(one);
  return namespaced.items.length > 0 || (await host.resource(CLUSTER_RESOURCE_BINDINGS).list(one)).items.length > 0;
}

function refuse(message: string): TemplatesDecision {
  return { verdict: 'Refuse', message };
}
