import { API_SERVICES as API_SERVICE_NAMES, HUB_SERVICE, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { API_SERVICES, ENDPOINTS, SERVICES } from '@asterism/machinery';
import { type Controller, createController, type Request } from '@asterism/runtime';
import { aggregatedObjects, type AggregationTarget } from './aggregated-objects.ts';
import { ensureApplied } from './ensure-applied.ts';

/** There is one thing to see to, whatever brought it up. */
const REGISTRATION: Request = { cluster: '', name: 'registration' };

/**
 * Has the host's aggregator lead callers to this process, for as long as it leads: it registers itself when it takes the lead,
 * and again when somebody changes or removes what it registered. Watched by name, so that the hub need not see the others.
 */
export function createAggregationController(target: AggregationTarget, onRegistered: () => void): Controller {
  const wanted = aggregatedObjects(target);
  const again = (): readonly Request[] => [REGISTRATION];
  const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  const controller = createController({
    name: 'aggregation',
    async reconcile(_, { cluster: { client }, signal, logger }) {
      let written = await ensureApplied(client, SERVICES, wanted.service, signal);
      if (wanted.endpoints) written = (await ensureApplied(client, ENDPOINTS, wanted.endpoints, signal)) || written;
      for (const apiService of wanted.apiServices) {
        written = (await ensureApplied(client, API_SERVICES, apiService, signal)) || written;
      }
      if (written) logger.info({ host: target.host, port: target.port }, 'the aggregated APIs lead to this process');
      onRegistered();
    },
  })
    .source((enqueue) => enqueue(REGISTRATION))
    .watches(SERVICES, again, { namespace: SYSTEM_NAMESPACE, ...named(HUB_SERVICE) });
  for (const name of API_SERVICE_NAMES) controller.watches(API_SERVICES, again, named(name));
  return controller;
}
