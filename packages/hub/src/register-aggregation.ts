import { type Client, type Clock, sleep } from '@asterism/client';
import {
  API_SERVICES as API_SERVICE_NAMES,
  HUB_REPLICAS_SERVICE,
  HUB_SERVICE,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import { API_SERVICES, ENDPOINTS, findCondition, SERVICES } from '@asterism/machinery';
import { type Controller, createController, type Request } from '@asterism/runtime';
import { aggregatedObjects, type AggregationTarget } from './aggregated-objects.ts';
import type { Replicas } from './replicas/open-replicas.ts';
import { ensureApplied } from './ensure-applied.ts';

/** There is one thing to see to, whatever brought it up. */
const REGISTRATION: Request = { cluster: '', name: 'registration' };

export interface AggregationOptions {
  /** Called, perhaps more than once, when the host says that it reaches what is registered. */
  onReached: () => void;
  /** Where all replicas take calls, and not the leader alone. */
  onServing?: Replicas['onServing'] | undefined;
}

/**
 * Has the host's aggregator lead callers to this process, for as long as it leads: it registers itself when it takes the lead,
 * and again when somebody changes or removes what it registered. Watched by name, so that the hub need not see the others.
 */
export function createAggregationController(
  target: AggregationTarget,
  { onReached, onServing }: AggregationOptions,
): Controller {
  let replicas: readonly AggregationTarget[] | undefined;
  const again = (): readonly Request[] => [REGISTRATION];
  const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  const controller = createController({
    name: 'aggregation',
    async reconcile(_, { cluster: { client }, signal, logger }) {
      const { services, endpoints, apiServices } = aggregatedObjects(target, replicas);
      let written = false;
      for (const each of services) written = (await ensureApplied(client, SERVICES, each, signal)) || written;
      for (const each of endpoints) written = (await ensureApplied(client, ENDPOINTS, each, signal)) || written;
      for (const each of apiServices) written = (await ensureApplied(client, API_SERVICES, each, signal)) || written;
      if (written) logger.info({ host: target.host, port: target.port }, 'the aggregated APIs lead to this process');
      const reach = await howReached(client, signal);
      if (reach === 'reached') onReached();
      else if (reach !== 'unknown') logger.warn({ host: target.host, port: target.port, ...reach }, UNREACHED);
    },
  })
    .source((enqueue, signal) => {
      enqueue(REGISTRATION);
      const unsubscribe = onServing?.((serving) => {
        replicas = serving;
        enqueue(REGISTRATION);
      });
      signal.addEventListener('abort', () => unsubscribe?.(), { once: true });
    })
    .watches(SERVICES, again, { namespace: SYSTEM_NAMESPACE, ...named(HUB_SERVICE) });
  if (onServing) controller.watches(SERVICES, again, { namespace: SYSTEM_NAMESPACE, ...named(HUB_REPLICAS_SERVICE) });
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

const LED_ELSEWHERE_MS = 5_000;
const LOOK_EVERY_MS = 100;

/** Resolves when the host no longer leads callers to this one of several replicas, or has done so for too long. Never rejects. */
export async function untilLedElsewhere(
  client: Client,
  { host, port }: AggregationTarget,
  clock: Clock,
): Promise<void> {
  const signal = AbortSignal.timeout(LED_ELSEWHERE_MS);
  const key = { namespace: SYSTEM_NAMESPACE, name: HUB_REPLICAS_SERVICE };
  const isLedHere = async (): Promise<boolean> => {
    const { subsets = [] } = await client.resource(ENDPOINTS).get(key, { signal });
    return subsets.some(
      ({ addresses, ports }) => addresses?.some(({ ip }) => ip === host) && ports?.some((each) => each.port === port),
    );
  };
  try {
    while (await isLedHere()) await sleep(clock, LOOK_EVERY_MS, signal);
  } catch {
    // The host is away, or nobody else took the lead in time: then it is as if this process had been killed.
  }
}
