import { isJsonObject } from '@asterism/machinery';
import { covers } from './covers.ts';

/**
 * A live object with what a manifest says put over it, where it does not say so already (see {@link covers}): about what applying
 * would make of it, for whoever may not ask its API server. What a manifest has lost since it was applied stays, and nothing is
 * defaulted.
 */
export function overlay(live: unknown, wanted: unknown, field = ''): unknown {
  if (covers(live, wanted, field)) return live;
  if (isJsonObject(wanted) && isJsonObject(live)) {
    const laid = Object.entries(wanted).map(([key, value]) => {
      // What `covers` takes for the same in a map of quantities is no difference here.
      const same = covers({ [key]: live[key] }, { [key]: value }, field);
      return [key, same ? live[key] : overlay(live[key], value, key)] as const;
    });
    return { ...live, ...Object.fromEntries(laid.filter(([, value]) => value !== undefined)) };
  }
  if (Array.isArray(wanted) && Array.isArray(live) && isNamedList(wanted)) return overlayList(live, wanted);
  return wanted;
}

type Named = Record<string, unknown> & { name: string };

function isNamedList(list: readonly unknown[]): list is readonly Named[] {
  return list.length > 0 && list.every((item) => isJsonObject(item) && typeof item['name'] === 'string');
}

/** Named things are merged by name: those of others stay. */
function overlayList(live: readonly unknown[], wanted: readonly Named[]): unknown[] {
  const byName = new Map(wanted.map((item) => [item.name, item]));
  const nameOf = (item: unknown) => (isJsonObject(item) ? String(item['name']) : '');
  const merged = live.map((item) => {
    const over = byName.get(nameOf(item));
    return over ? overlay(item, over) : item;
  });
  const present = new Set(live.map(nameOf));
  return [...merged, ...wanted.filter(({ name }) => !present.has(name))];
}
