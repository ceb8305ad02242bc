import { failure, type StatusError } from '@asterism/machinery';

/** The encodings that every answer can take. */
export type Encoding = 'json' | 'yaml' | 'protobuf';

export const MEDIA_TYPE: Record<Encoding, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** What a client asked to see instead of the object itself: `;as=Table;v=v1;g=meta.k8s.io`. */
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How an answer is to be written. */
export interface Representation {
  encoding: Encoding;
  as?: Transform;
  /** Of the transform's `meta.k8s.io`. */
  version?: 'v1' | 'v1beta1';
}

export const JSON_REPRESENTATION: Representation = { encoding: 'json' };

/** One clause of an Accept header. */
export interface AcceptClause {
  type: string;
  params: ReadonlyMap<string, string>;
  quality: number;
}

/** The clauses of an Accept header, the preferred first; clauses of one quality stay in order. No header accepts all. */
export function parseAccept(header: string | string[] | undefined): AcceptClause[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  const clauses = text.split(',').flatMap((clause): AcceptClause[] => {
    const [type = '', ...rest] = clause.split(';').map((part) => part.trim());
    if (type === '') return [];
    const params = new Map(rest.map((param) => splitParam(param)));
    const quality = Number(params.get('q') ?? 1);
    return [{ type: type.toLowerCase(), params, quality: Number.isNaN(quality) ? 0 : quality }];
  });
  if (clauses.length === 0) return [{ type: '*/*', params: new Map(), quality: 1 }];
  return clauses.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
}

function splitParam(param: string): [string, string] {
  const equals = param.indexOf('=');
  return equals < 0 ? [param, ''] : [param.slice(0, equals).trim(), param.slice(equals + 1).trim()];
}

export interface Offer {
  encodings: readonly Encoding[];
  transforms: readonly Transform[];
  /** Watches name their media types with `;stream=watch`. */
  stream?: boolean;
}

/**
 * The first clause of the Accept header that the offer meets; a clause that asks for an unknown transform is passed over,
 * as clients put their fallbacks behind it. Throws 406 in upstream's words where none is met.
 */
export function negotiate(accept: string | string[] | undefined, offer: Offer): Representation {
  const clauses = parseAccept(accept);
  for (const clause of clauses) {
    const encoding = offer.encodings.find((candidate) => covers(clause.type, MEDIA_TYPE[candidate]));
    if (encoding === undefined) continue;
    const as = clause.params.get('as');
    if (as === undefined) return { encoding };
    const version = clause.params.get('v');
    const transform = offer.transforms.find((candidate) => candidate === as);
    if (transform === undefined || clause.params.get('g') !== 'meta.k8s.io') continue;
    if (version !== 'v1' && version !== 'v1beta1') continue;
    if (transform === 'Table' && encoding === 'protobuf') continue;
    return { encoding, as: transform, version };
  }
  throw notAcceptable(offer);
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
