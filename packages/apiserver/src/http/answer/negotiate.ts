import { failure, type StatusError } from '@asterism/machinery';

/** The encodings that every answer can take. */
export type Encoding = 'json' | 'yaml' | 'protobuf';

export const MEDIA_TYPE: Record<Encoding, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};
const MEDIA_TYPES = Object.values(MEDIA_TYPE);

/** What a client asked to see instead of the object itself: `;as=Table;v=v1;g=meta.k8s.io`. */
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How an answer is to be written. */
export interface Representation {
  encoding: Encoding;
  as?: Transform;
  /** Of the transform's `meta.k8s.io`. */
  version?: 'v1' | 'v1beta1';
}

/** One clause of an Accept header. */
export interface AcceptClause {
  type: string;
  params: ReadonlyMap<string, string>;
  quality: number;
}

/**
 * The clauses of an Accept header, the preferred first: by quality, then the more exact; others stay in order. No header
 * accepts all. As upstream, a quality of 0 comes last and is not refused, and one that is no number counts as 0.
 */
export function parseAccept(header: string | string[] | undefined): AcceptClause[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  if (text.trim() === '') return [ANYTHING];
  if (MEDIA_TYPES.includes(text)) return [{ type: text, params: NO_PARAMS, quality: 1 }];
  const clauses = text.split(',').flatMap((clause): AcceptClause[] => {
    const [range = '', ...rest] = clause.split(';').map((part) => part.trim());
    const type = range === '*' ? '*/*' : range.toLowerCase();
    if (type.split('/').length !== 2) return [];
    const params = new Map(rest.map((param) => splitParam(param)));
    const quality = Number(params.get('q') ?? 1);
    return [{ type, params, quality: Number.isNaN(quality) ? 0 : quality }];
  });
  return clauses.sort((a, b) => b.quality - a.quality || exactness(b) - exactness(a));
}

const NO_PARAMS: AcceptClause['params'] = new Map();
const ANYTHING: AcceptClause = { type: '*/*', params: NO_PARAMS, quality: 1 };

function exactness({ type }: AcceptClause): number {
  return type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2;
}

function splitParam(param: string): [string, string] {
  const equals = param.indexOf('=');
  return equals < 0 ? [param, ''] : [param.slice(0, equals).trim(), param.slice(equals + 1).trim()];
}

export interface Offer {
  /** In the order in which they are preferred and named. */
  encodings: readonly Encoding[];
  transforms: readonly Transform[];
  /** Of `encodings`, those that the object itself can take. Default all: a custom resource has no protobuf, its metadata has. */
  plain?: readonly Encoding[];
  /** Watches name their media types with `;stream=watch`. */
  stream?: boolean;
}

/**
 * The first clause of the Accept header that the offer meets; a clause that asks for an unknown transform is passed over,
 * as clients put their fallbacks behind it. Throws 406 in upstream's words where none is met.
 */
export function negotiate(accept: string | string[] | undefined, offer: Offer): Representation {
  for (const { type, params } of parseAccept(accept)) {
    if ((params.get('stream') ?? 'watch') !== 'watch') continue;
    for (const encoding of offer.encodings) {
      if (!covers(type, MEDIA_TYPE[encoding])) continue;
      const representation = represented(encoding, params, offer);
      if (representation !== undefined) return representation;
    }
  }
  throw notAcceptable(offer);
}

/** Undefined where the offer does not have that. A clause that names a group or a version asks for a transform, too. */
function represented(
  encoding: Encoding,
  params: AcceptClause['params'],
  { plain, transforms }: Offer,
): Representation | undefined {
  const as = params.get('as');
  const version = params.get('v');
  const group = params.get('g');
  if (as === undefined && version === undefined && group === undefined) {
    return plain === undefined || plain.includes(encoding) ? { encoding } : undefined;
  }
  const transform = transforms.find((candidate) => candidate === as);
  if (transform === undefined || group !== 'meta.k8s.io') return undefined;
  if (version !== 'v1' && version !== 'v1beta1') return undefined;
  if (transform === 'Table' && encoding === 'protobuf') return undefined;
  return { encoding, as: transform, version };
}

/** Whether `text/*`, `application/*` or an exact type covers a media type. */
export function covers(pattern: string, mediaType: string): boolean {
  if (pattern === mediaType || pattern === '*/*') return true;
  return pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1));
}

export function notAcceptable(offer: Offer): StatusError {
  const suffix = offer.stream ? ';stream=watch' : '';
  const accepted = offer.encodings.map((encoding) => MEDIA_TYPE[encoding] + suffix);
  return failure(406, `only the following media types are accepted: ${accepted.join(', ')}`);
}

/** What the route of a list and its watches can answer with beside the list's own. */
export const STREAMED_TYPES: readonly string[] = [MEDIA_TYPE.json, MEDIA_TYPE.protobuf].map(
  (type) => `${type};stream=watch`,
);

/**
 * Whether anything that a route can answer with is asked for, as upstream's router decides before it looks closer: by the media
 * type alone, and with no other wildcard than that for all. Throws 406 in its words.
 *
 * @param streams the route is also that of watches
 */
export function checkProducible(accept: string | string[] | undefined, streams: boolean): void {
  const text = Array.isArray(accept) ? accept.join(',') : (accept ?? '');
  if (MEDIA_TYPES.includes(text)) return;
  const asked = (text === '' ? '*/*' : text).split(',').map((clause) => clause.split(';')[0]?.trim() ?? '');
  if (asked.some((type) => type === '*/*' || MEDIA_TYPES.includes(type))) return;
  const available = [...MEDIA_TYPES, ...(streams ? STREAMED_TYPES : [])].join(', ');
  throw failure(406, `406: Not Acceptable\n\nAvailable representations: ${available}`, { details: {} });
}
