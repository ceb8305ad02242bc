import { deepEqual, type KubeObject, RESOURCE_QUOTAS } from '@asterism/machinery';
import type { QuotaCounter } from './count-quotas.ts';
import type { ObservedChange } from '../../registry/registry.ts';
import { requireResource } from '../../registry/require-resource.ts';
import type { Controller, ControllerOptions } from '../../controllers/controller-options.ts';

/** As often as upstream: a pod whose grace is over takes nothing any more, and nothing tells when that is. */
const COUNT_AGAIN_MS = 5 * 60_000;

/**
 * Has the quotas of a namespace counted again when one of them comes or changes, and when something in it goes or comes to need
 * less. Until there is a quota, that is all it does: the counter is read in with the first.
 */
export function startQuotaController(options: ControllerOptions): Controller {
  const { registry, signal, onError } = options;
  const quotas = requireResource(registry, RESOURCE_QUOTAS);
  /** By namespace: how many there are. */
  const bounded = new Map<string, Set<string>>();
  let counter: QuotaCounter | undefined;
  let opening: Promise<void> | undefined;
  const count = (namespace: string): void => {
    if (counter !== undefined) {
      counter.add(namespace);
      return;
    }
    opening ??= import('./count-quotas.ts').then(
      ({ createQuotaCounter }) => {
        counter = createQuotaCounter(options);
        for (const each of bounded.keys()) counter.add(each);
      },
      (error: unknown) => onError('resource quotas', error),
    );
  };
  const know = (namespace: string, name: string): void => {
    const names = bounded.get(namespace) ?? new Set();
    bounded.set(namespace, names.add(name));
  };
  const observe = (change: ObservedChange): void => {
    const { resource, type, namespace, name } = change;
    if (namespace === undefined) return;
    if (resource === quotas) {
      if (type === 'put') {
        know(namespace, name);
        if (isUncounted(change.stored.parse())) count(namespace);
      } else if (bounded.get(namespace)?.delete(name) && bounded.get(namespace)?.size === 0) bounded.delete(namespace);
      return;
    }
    if (bounded.size > 0 && bounded.has(namespace) && mayFree(change)) count(namespace);
  };
  const ends = [
    registry.observe(observe),
    // What a bound is on may be served from now on.
    registry.onChange(() => {
      for (const namespace of bounded.keys()) count(namespace);
    }),
  ];
  const again = setInterval(() => {
    for (const namespace of bounded.keys()) count(namespace);
  }, COUNT_AGAIN_MS);
  again.unref();
  const end = (): void => {
    clearInterval(again);
    for (const each of ends) each();
  };
  signal.addEventListener('abort', end, { once: true });
  const begin = registry
    .list(quotas)
    .then(({ items }) => {
      for (const { namespace = '', name = '' } of items.map((item) => item.parse().metadata ?? {})) {
        know(namespace, name);
        count(namespace);
      }
    })
    .catch((error: unknown) => onError('the resource quotas that are stored', error));
  return {
    settled: async () => {
      await begin;
      await opening;
      await counter?.settled();
    },
  };
}

/** What admission charges needs no count: only a bound that was not there before. */
function isUncounted({ spec, status }: KubeObject): boolean {
  const wanted = (spec as { hard?: object } | undefined)?.hard ?? {};
  return !deepEqual(wanted, (status as { hard?: object } | undefined)?.hard ?? {});
}

/** What a Pod takes ends with it; what a Service or a claim takes can change. */
function mayFree({ resource, type, stored }: ObservedChange): boolean {
  if (type === 'delete') return true;
  const { group, resource: plural } = resource.type;
  if (group !== '') return false;
  if (plural === 'services' || plural === 'persistentvolumeclaims') return true;
  return plural === 'pods' && hasEnded(stored.parse());
}

function hasEnded({ status }: KubeObject): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  return phase === 'Succeeded' || phase === 'Failed';
}
