import { CONFIG_MAPS, isAlreadyExists, isNotFound } from '@asterism/machinery';
import type { Controller, ControllerOptions } from '../controllers/controller-options.ts';
import { KeyedWork } from '../controllers/keyed-work.ts';
import { unlessChanged } from '../controllers/unless-changed.ts';
import { requireResource } from '../registry/require-resource.ts';
import { dayOf } from './day-of.ts';

const REF = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' };

/**
 * Keeps the ConfigMap that says since when the use of tokens in Secrets is noted: a cleaner takes a Secret without a note for
 * unused since then, and not before.
 */
export function startLegacyTokenTracking(options: ControllerOptions): Controller {
  const { registry, user, clock, signal, onError } = options;
  const configMaps = requireResource(registry, CONFIG_MAPS);
  const context = { ...REF, user, fieldManager: 'kube-apiserver' };
  const work = new KeyedWork({
    async work() {
      const stored = await registry.get(configMaps, REF).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      const data = { since: dayOf(clock()) };
      if (stored === undefined) {
        await registry.create(configMaps, { metadata: REF, data }, context).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
        return;
      }
      const object = stored.parse();
      const kept = object.data as Record<string, string> | undefined;
      if (isDay(kept?.since)) return;
      const body = { ...object, data: { ...kept, ...data } };
      await unlessChanged(() => registry.update(configMaps, REF, body, context));
    },
    onError: (name, error) => onError(`the ConfigMap ${name}`, error),
    signal,
  });
  const stop = registry.observe(({ resource, name, namespace }) => {
    if (resource === configMaps && name === REF.name && namespace === REF.namespace) work.add(name);
  });
  signal.addEventListener('abort', stop, { once: true });
  work.add(REF.name);
  return { settled: () => work.settled() };
}

function isDay(text: string | undefined): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text ?? '') ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // The last of February may be written as the 30th, and is read as another day.
  return !Number.isNaN(time) && dayOf(time) === text;
}
