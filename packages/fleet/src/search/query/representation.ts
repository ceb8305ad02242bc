import { failure } from '@asterism/machinery';

/** How an answer is to be written. */
export type Representation =
  | { as: 'JSON' }
  | { as: 'Table'; version: 'v1' | 'v1beta1' }
  /** Aggregated discovery, `apidiscovery.k8s.io/v2` (KEP-3352). */
  | { as: 'APIGroupDiscoveryList' };

export const AGGREGATED_DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * The first of what the caller accepts that there is: plain JSON always, and one of the `offered` forms. A clause that asks for
 * another is passed over, as clients put their fallbacks behind it.
 *
 * @throws StatusError 406 when nothing fits.
 */
export function chooseRepresentation(
  accept: string | string[] | undefined,
  offered: Exclude<Representation['as'], 'JSON'>,
): Representation {
  const text = Array.isArray(accept) ? accept.join(',') : (accept ?? '');
  if (text.trim() === '') return { as: 'JSON' };
  const clauses = text
    .split(',')
    .map(readClause)
    .sort((a, b) => b.quality - a.quality);
  for (const { type, parameters, quality } of clauses) {
    if (quality === 0 || !['application/json', 'application/*', '*/*'].includes(type)) continue;
    const form = formOf(parameters);
    if (form && (form.as === 'JSON' || form.as === offered)) return form;
  }
  throw failure(406, 'only the following media types are accepted: application/json');
}

interface Clause {
  type: string;
  parameters: ReadonlyMap<string, string>;
  quality: number;
}

function readClause(clause: string): Clause {
  const [type = '', ...rest] = clause.split(';').map((part) => part.trim());
  const parameters = new Map(rest.map((part) => part.split('=', 2).map((side) => side.trim()) as [string, string]));
  const quality = Number(parameters.get('q') ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality };
}

function formOf(parameters: ReadonlyMap<string, string>): Representation | undefined {
  const as = parameters.get('as');
  const group = parameters.get('g');
  const version = parameters.get('v');
  if (as === undefined) return { as: 'JSON' };
  if (as === 'Table' && group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1')) return { as, version };
  if (as === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2') return { as };
  return undefined;
}
