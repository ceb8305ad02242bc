import type { Client } from '@asterism/client';
import { API_SERVICES as API_SERVICE_NAMES, HUB_SERVICE, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { API_SERVICES, ENDPOINTS, findCondition, SERVICES } from '@asterism/machinery';
import { type Controller, createController, type Request } from '@asterism/runtime';
import { aggregatedObjects, type AggregationTarget } from './aggregated-objects.ts';
import { ensureApplied } from './ensure-applied.ts';

/** There is one thing to see to, whatever brought it up. */
const REGISTRATION: Request = { cluster: '', name: 'registration' };

/**
 * Has the host's aggregator lead callers to this process, for as long as it leads: it registers itself when it takes the lead,
 * and again when somebody changes or removes what it registered. Watched by name, so that the hub need not see the others.
 *
 * @param onReached called, perhaps more than once, when the host says that it reaches what is registered.
 */
export function createAggregationController(target: AggregationTarget, onReached: () => void): Controller {
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
      const reach = await howReached(client, signal);
      if (reach === 'reached') onReached();
      else if (reach !== 'unknown') logger.warn({ host: target.host, port: target.port, ...reach }, UNREACHED);
    },
  })
    .source((enqueue) => enqueue(REGISTRATION))
    .watches(SERVICES, again, { namespace: SYSTEM_NAMESPACE, ...named(HUB_SERVICE) });
  for (const name of API_SERVICE_NAMES) controller.watches(API_SERVICES, again, named(name));
  return controller;
}

const UNREACHED =
  'the API server does not reach this process, so nobody gets to the aggregated APIs: say with --advertise how it does';

/** What the host says of the registered APIs: a reason why it cannot pass calls on, or that it has not tried yet. */
async function howReached(client: Client, signal: AbortSignal): Promise<'reached' | 'unknown' | { reason: string }> {
  const resource = client.resource(API_SERVICES);
  const live = await Promise.all(API_SERVICE_NAMES.map((name) => resource.get({ name }, { signal })));
  const conditions = live.map(({ status }) => findCondition(status?.conditions, 'Available'));
  const failed = conditions.find((condition) => condition?.status === 'False');
  if (failed) return { reason: failed.message ?? failed.reason ?? '' };
  return conditions.every((condition) => condition?.status === 'True') ? 'reached' : 'unknown';
}
