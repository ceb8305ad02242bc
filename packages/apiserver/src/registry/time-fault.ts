import { cutForMessage } from '@asterism/machinery';

/** RFC 3339 as Go's layouts write it, piece by piece: what each piece is, where it is a number of how many digits and range. */
const PIECES: readonly { layout: string; digits?: number; name?: string; min?: number; max?: number }[] = [
  { layout: '2006', digits: 4 },
  { layout: '-' },
  { layout: '01', digits: 2, name: 'month', min: 1, max: 12 },
  { layout: '-' },
  { layout: '02', digits: 2 },
  { layout: 'T' },
  { layout: '15', digits: 2, name: 'hour', min: 0, max: 23 },
  { layout: ':' },
  { layout: '04', digits: 2, name: 'minute', min: 0, max: 59 },
  { layout: ':' },
  { layout: '05', digits: 2, name: 'second', min: 0, max: 59 },
];

/** Nearly every time there is: only the day can still be wrong. */
const USUAL = /^\d{4}-(?:0[1-9]|1[0-2])-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{6})?Z$/;

/** Why a text is no time (RFC 3339), in the words of Go's `time.Parse`; undefined where it is one. */
export function timeFault(text: string, micro = false): string | undefined {
  if (USUAL.test(text) && isDay(text)) return undefined;
  const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  const quoted = JSON.stringify(cutForMessage(text));
  const cannotParse = (rest: string, piece: string): string =>
    `parsing time ${quoted} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(cutForMessage(rest))} as ${JSON.stringify(piece)}`;
  let at = 0;
  for (const piece of PIECES) {
    const rest = text.slice(at);
    const size = piece.digits ?? 1;
    const taken = rest.slice(0, size);
    const fits = piece.digits === undefined ? taken === piece.layout : /^\d+$/.test(taken) && taken.length === size;
    if (!fits) return cannotParse(rest, piece.layout);
    const value = Number(taken);
    if (piece.name && (value < piece.min! || value > piece.max!)) {
      return `parsing time ${quoted}: ${piece.name} out of range`;
    }
    at += size;
  }
  const rest = text.slice(at);
  const fraction = /^[.,]\d+/.exec(rest)?.[0] ?? '';
  const zone = rest.slice(fraction.length);
  const offset = /^(?:Z|[+-]\d\d:\d\d)/.exec(zone)?.[0];
  if (offset === undefined) return cannotParse(zone, 'Z07:00');
  if (zone !== offset)
    return `parsing time ${quoted}: extra text: ${JSON.stringify(cutForMessage(zone.slice(offset.length)))}`;
  return isDay(text) ? undefined : `parsing time ${quoted}: day out of range`;
}

function isDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day < 29) return day > 0;
  const [year = 0, month = 0] = text.slice(0, 7).split('-').map(Number);
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
