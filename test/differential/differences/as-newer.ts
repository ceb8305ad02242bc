import { isJsonObject } from '@asterism/machinery';
import type { Fields } from '../objects/generated-kind.ts';
import type { StepOutcome } from '../run-case.ts';
import type { AnswerPair, KnownDifference } from './known-difference.ts';

export interface OutcomePair {
  real: StepOutcome;
  own: StepOutcome;
}

/** Copies of both outcomes without the known differences between them; the names of those that were met go to `used`. */
export function asNewer(known: readonly KnownDifference[], pair: OutcomePair, used: Set<string>): OutcomePair {
  const { real, own } = structuredClone(pair);
  const apply = (given: AnswerPair, kind?: string): void => {
    for (const difference of known) {
      const changed = kind === undefined ? difference.answer?.(given) : difference.object?.(given, kind);
      if (changed === true) used.add(difference.name);
    }
  };
  for (const [index, answer] of real.answers.entries()) {
    const mine = own.answers[index];
    if (!mine) continue;
    const place = placeOf(own.requests[index] ?? own.what);
    apply({ real: answer as unknown as Fields, own: mine as unknown as Fields, ...place });
    eachObject(answer.body, mine.body, place, apply);
  }
  const place = placeOf(own.what);
  for (const [index, events] of real.events.entries()) {
    for (const [nth, event] of events.entries()) {
      const mine = own.events[index]?.[nth];
      if (isJsonObject(event) && isJsonObject(mine)) eachObject(event['object'], mine['object'], place, apply);
    }
  }
  return { real, own };
}

/** The object itself, the items of a list, and the objects of a Table's rows. */
function eachObject(real: unknown, own: unknown, place: Place, apply: (pair: AnswerPair, kind: string) => void): void {
  if (!isJsonObject(real) || !isJsonObject(own)) return;
  const kind = String(own['kind']);
  apply({ real, own, ...place }, kind);
  for (const key of ['items', 'rows']) {
    const [theirs, ours] = [real[key], own[key]];
    if (!Array.isArray(theirs) || !Array.isArray(ours)) continue;
    for (const [index, item] of theirs.entries()) {
      const [a, b] = [item as unknown, ours[index] as unknown].map((value) =>
        key === 'rows' && isJsonObject(value) ? value['object'] : value,
      );
      if (isJsonObject(a) && isJsonObject(b)) {
        apply({ real: a, own: b, ...place }, typeof b['kind'] === 'string' ? b['kind'] : kind.replace(/List$/, ''));
      }
    }
  }
}

type Place = Pick<AnswerPair, 'request' | 'query'>;

function placeOf(what: string): Place {
  const [method = '', url = ''] = what.split(' ');
  const [path = '', query = ''] = url.split('?');
  return { request: `${method} ${path.replace(/\/namespaces\/[^/]+(?=\/)/, '')}`, query };
}
