import type { Draw } from '../soak/draw.ts';

/** What stands where something else should. */
const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  '',
  'x',
  ' ',
  'A'.repeat(300),
  'ünïcödé',
  '\u0000',
  '1Gi',
  '-5m',
  '9'.repeat(40),
  '$(X)',
  '../../etc',
  [],
  {},
  [[]],
  [null],
  { '': '' },
  { a: { b: { c: [] } } },
  { $patch: 'delete' },
  { $patch: 'nonsense' },
  { $retainKeys: ['a'] },
  { '$setElementOrder/containers': [{ name: 'x' }] },
  { 'f:spec': { '.': {} } },
];

const WRONG_KEYS = ['', 'unknown', '__proto__', 'constructor', '$patch', 'a/b', 'kind', 'metadata', 'x'.repeat(400)];

/** A copy of `value` with one to three of the values in it replaced, taken away, doubled or added. */
export function spoilValue(draw: Draw, value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  for (let times = draw.int(1, 3); times > 0; times--) spoilOnce(draw, copy);
  return copy;
}

function spoilOnce(draw: Draw, value: unknown): void {
  let holder = value;
  for (;;) {
    if (typeof holder !== 'object' || holder === null) return;
    const keys = Object.keys(holder);
    if (keys.length === 0) return;
    const key = draw.pick(keys);
    const inner = (holder as Record<string, unknown>)[key];
    if (typeof inner === 'object' && inner !== null && draw.chance(0.7)) holder = inner;
    else return spoilKey(draw, holder as Record<string, unknown>, key);
  }
}

function spoilKey(draw: Draw, holder: Record<string, unknown>, key: string): void {
  const way = draw.next();
  if (way < 0.6) holder[key] = structuredClone(draw.pick(WRONG_VALUES));
  else if (way < 0.8) delete holder[key];
  else if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
  else {
    const [name, wrong] = [draw.pick(WRONG_KEYS), structuredClone(draw.pick(WRONG_VALUES))];
    Object.defineProperty(holder, name, { value: wrong, enumerable: true, configurable: true, writable: true });
  }
}
