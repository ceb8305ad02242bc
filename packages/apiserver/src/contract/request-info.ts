import { badRequest, type FieldRequirement, VERB_BY_METHOD } from '@asterism/machinery';
import { type FieldSelection, readFieldSelection, SELECTS_ALL } from './field-selection.ts';

/** What a request is about, read off its method, path and query as upstream's RequestInfo does: before any look at what is served. */
export interface RequestInfo {
  /** Whether the path names a resource: `/api/v1/…` or `/apis/GROUP/VERSION/…` with at least a resource. */
  isResource: boolean;
  /** Percent-decoded, once. Authorization sees this path, and handlers of paths read it. */
  path: string;
  /** For resources a Kubernetes verb ('' for a method that has none); for other paths the method in lower case. */
  verb: string;
  group: string;
  version: string;
  namespace: string;
  resource: string;
  /**
   * For authorization. Of a list or a watch it is a name that `selection` is limited to: of the path, or of the query. Handlers of
   * those read `selection` and have no use for it.
   */
  name: string;
  /** Of a list, a watch or a deletecollection: all that it may read. */
  selection: FieldSelection;
  /** The part of the selection that authorizers see. It is empty if the prefix `watch/` makes the verb, as upstream. */
  fieldSelector: readonly FieldRequirement[];
  /** Whether the path itself has the name. */
  named: boolean;
  subresource: string;
  /** What follows name and subresource: '' or '/…', percent-encoded as it came. */
  rest: string;
}

const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Subresources of a namespace itself; other words behind `namespaces/NAME` are resources in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** Words before the resource that are its verb: the old form of a watch, and one of a proxy that no longer exists. */
const VERB_PREFIXES = new Set(['watch', 'proxy']);

/** An encoded slash separates like any other, as upstream reads paths after decoding them. */
const SEPARATOR = /\/|%2f/i;

/** Reads a request. Throws 400 where the path is not valid percent-encoding. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const isEncoded = path.includes('%');
  const raw = path.split(isEncoded ? SEPARATOR : '/').slice(1);
  const segments = isEncoded ? raw.map(decode) : raw;
  const info: RequestInfo = {
    isResource: false,
    path: isEncoded ? `/${segments.join('/')}` : path,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    name: '',
    selection: SELECTS_ALL,
    fieldSelector: SELECTS_ALL.requirements,
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
  const prefixed = VERB_PREFIXES.has(segments[at]!) && last > at + 1;
  if (prefixed) {
    info.verb = segments[at]!;
    at += 1;
  }
  at = readNamespace(info, segments, at, last);
  info.resource = segments[at] ?? '';
  info.name = segments[at + 1] ?? '';
  info.subresource = segments[at + 2] ?? '';
  if (raw.length > at + 3) info.rest = `/${restOf(path, at + 3)}`;
  info.named = info.name !== '';
  readSelection(info, query, prefixed);
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

/**
 * Without a name, `get` is `list` or `watch`. A selector for one name is that name in authorization. A deletecollection has no
 * name: a rule with names allows none (upstream looks at the selectors of reads alone).
 */
function readSelection(info: RequestInfo, query: URLSearchParams, prefixed: boolean): void {
  if (!info.named) {
    if (info.verb === 'get') info.verb = isTrue(query.get('watch')) ? 'watch' : 'list';
    else if (info.verb === 'delete') info.verb = 'deletecollection';
  }
  const isRead = info.verb === 'list' || info.verb === 'watch';
  if (!isRead && info.verb !== 'deletecollection') return;
  const text = query.get('fieldSelector') ?? '';
  if (text === '' && !info.named) return;
  info.selection = readFieldSelection(text, info.name);
  if (prefixed) return;
  info.fieldSelector = info.selection.requirements;
  if (isRead) info.name = info.selection.name;
}

/** How Kubernetes reads a boolean in a query: there and neither `false` nor `0`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

/** What of a path follows its first `count` segments, as it came. */
function restOf(path: string, count: number): string {
  let rest = path.slice(1);
  for (let index = 0; index < count; index += 1) {
    const [separator] = SEPARATOR.exec(rest) ?? ['/'];
    rest = rest.slice(rest.indexOf(separator) + separator.length);
  }
  return rest;
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`the path segment ${JSON.stringify(segment)} is not valid percent-encoding`);
  }
}
