import { badRequest, type FieldRequirement, parseFieldSelector, VERB_BY_METHOD } from '@asterism/machinery';

/** What a request is about, read off its method, path and query as upstream's RequestInfo does: before any look at what is served. */
export interface RequestInfo {
  /** Whether the path names a resource: `/api/v1/…` or `/apis/GROUP/VERSION/…` with at least a resource. */
  isResource: boolean;
  path: string;
  /** For resources a Kubernetes verb ('' for a method that has none); for other paths the method in lower case. */
  verb: string;
  group: string;
  version: string;
  namespace: string;
  resource: string;
  /** Of the path, or of a field selector `metadata.name=…`, which authorization takes for it. */
  name: string;
  /** Of a list, a watch or a deletecollection; empty too where it cannot be read, which is refused later. */
  fieldSelector: readonly FieldRequirement[];
  /** Whether the path itself has the name. */
  named: boolean;
  subresource: string;
  /** What follows name and subresource: '' or '/…', percent-encoded as it came. */
  rest: string;
}

const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

const NO_REQUIREMENTS: readonly FieldRequirement[] = [];

/** Subresources of a namespace itself; other words behind `namespaces/NAME` are resources in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** Reads a request. Throws 400 where the path is not valid percent-encoding. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const raw = path.split('/').slice(1);
  const segments = raw.map(decode);
  const info: RequestInfo = {
    isResource: false,
    path,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    name: '',
    fieldSelector: NO_REQUIREMENTS,
    named: false,
    subresource: '',
    rest: '',
  };
  const start = segments[0] === 'api' ? 2 : segments[0] === 'apis' ? 3 : undefined;
  if (start === undefined) return info;
  const last = segments.at(-1) === '' ? segments.length - 1 : segments.length;
  if (last <= start) return info;
  info.isResource = true;
  info.group = start === 3 ? segments[1]! : '';
  info.version = segments[start - 1]!;
  info.verb = VERB_BY_METHOD.get(method) ?? '';

  let at = start;
  if (segments[at] === 'watch' && last > at + 1) {
    info.verb = 'watch';
    at += 1;
  }
  at = readNamespace(info, segments, at, last);
  info.resource = segments[at] ?? '';
  info.name = segments[at + 1] ?? '';
  info.subresource = segments[at + 2] ?? '';
  if (raw.length > at + 3) info.rest = `/${raw.slice(at + 3).join('/')}`;
  info.named = info.name !== '';
  if (!info.named) readCollection(info, query);
  return info;
}

/** Whether it lasts by its nature: a watch, a log, a connection. */
export function isLongRunning({
  verb,
  subresource,
  isResource,
}: Pick<RequestInfo, 'isResource' | 'subresource' | 'verb'>): boolean {
  return isResource && (verb === 'watch' || LONG_SUBRESOURCES.has(subresource));
}

/** Reads `namespaces/NAME/`; answers with where the resource stands. A namespace is in itself. */
function readNamespace(info: RequestInfo, segments: string[], at: number, last: number): number {
  if (segments[at] !== 'namespaces' || last <= at + 1) return at;
  info.namespace = segments[at + 1]!;
  return last > at + 2 && !NAMESPACE_SUBRESOURCES.has(segments[at + 2]!) ? at + 2 : at;
}

/** Without a name, `get` is `list` or `watch`; a field selector for one name stands for the name in authorization. */
function readCollection(info: RequestInfo, query: URLSearchParams): void {
  if (info.verb === 'get') info.verb = isTrue(query.get('watch')) ? 'watch' : 'list';
  else if (info.verb === 'delete') info.verb = 'deletecollection';
  if (info.verb !== 'list' && info.verb !== 'watch' && info.verb !== 'deletecollection') return;
  info.fieldSelector = readFieldSelector(query.get('fieldSelector') ?? '');
  for (const { path, operator, value } of info.fieldSelector) {
    if (path === 'metadata.name' && operator === '=' && value !== '') info.name = value;
  }
}

function readFieldSelector(selector: string): readonly FieldRequirement[] {
  if (selector === '') return NO_REQUIREMENTS;
  try {
    return parseFieldSelector(selector);
  } catch {
    return NO_REQUIREMENTS;
  }
}

/** How Kubernetes reads a boolean in a query: there and neither `false` nor `0`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`the path segment ${JSON.stringify(segment)} is not valid percent-encoding`);
  }
}
