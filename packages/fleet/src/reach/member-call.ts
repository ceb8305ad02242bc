import { VERB_BY_METHOD } from '@asterism/machinery';
import type { DestinationCall } from './destination-call.ts';

/** What a call asks of a member's API server, read off its method and path: for modes, guards and the record of it. */
export interface MemberCall {
  /** A Kubernetes verb of a resource; of any other path the method in lower case. */
  verb: string;
  /** Without the query, as it came. */
  path: string;
  /** Undefined where the path names no resource: discovery, OpenAPI, health. */
  target: MemberTarget | undefined;
}

export interface MemberTarget {
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

/** Subresources behind which something else than the API answers: reading them is doing. */
const CONNECTING = new Set(['attach', 'exec', 'portforward', 'proxy']);

/** The words before the namespace or resource of an old path: what is watched, or what a node or Service itself serves. */
const OLD_WATCH = 'watch';
const OLD_PROXY = 'proxy';

/** Subresources of a Namespace itself; any other word behind `namespaces/NAME` is a resource in it. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

/**
 * Reads a call as a kube-apiserver would (its `RequestInfo`). In words, what is wrong, where two servers might read it in two
 * ways: not a path (`http://…`, `//host/…`), `.` and `..`, empty segments, broken escapes. Whoever refuses or records a call
 * by its path must be sure that the member takes it for the same. Behind a `proxy` subresource the path is another server's:
 * there nothing but dots is refused.
 */
export function readMemberCall(method: string, pathWithQuery: string): MemberCall | { fault: string } {
  const [path, query] = splitOnce(pathWithQuery, '?');
  if (!path.startsWith('/') || path.startsWith('//'))
    return { fault: 'the target of a call is a path that begins with one /' };
  if (hasForeignCharacter(pathWithQuery)) return { fault: 'the path has characters that no path holds' };
  const raw = path.slice(1).split('/');
  let segments: string[];
  try {
    segments = raw.map(decodeURIComponent);
  } catch {
    return { fault: 'the path is not valid percent-encoding' };
  }
  if (segments.some((segment) => segment.split('/').some(isDots))) return { fault: 'the path has . or .. in it' };
  const target = targetOf(segments);
  const own = target?.subresource === 'proxy' ? target.length : segments.length - 1;
  if (segments.slice(0, own).includes('')) return { fault: 'the path has an empty segment' };
  if (!target) return { verb: method.toLowerCase(), path, target: undefined };
  const { length: _, watched, ...rest } = target;
  // Of one object by its name nothing is watched: a server reads it once, or opens a connection of its own kind.
  const watching = watched || (rest.name === '' && asksToWatch(query));
  return { verb: verbOf(method, rest, watching), path, target: rest };
}

/** Whether the call goes into a pod, a node or a Service, past the API. */
export function connects({ target }: MemberCall): boolean {
  return target !== undefined && (CONNECTING.has(target.subresource) || target.resource === OLD_PROXY);
}

/** Whether a name in the path holds a slash, by which it might be read as more than a name. */
export function hidesSlash({ path }: MemberCall): boolean {
  return /%2f/i.test(path);
}

/** Whether the call lasts until one side ends it: a watch, a log that is followed; of a server behind, what asks for the like. */
export function isFollowing(call: MemberCall | DestinationCall, query: URLSearchParams): boolean {
  const [watches, follows] = [isTrue(query.get('watch')), isTrue(query.get('follow'))];
  if ('destination' in call || connects(call)) return watches || follows;
  return call.verb === 'watch' || (call.target?.subresource === 'log' && follows);
}

/** `/api/VERSION/…` and `/apis/GROUP/VERSION/…` with at least a resource; `length` is of what is the API's own. */
function targetOf(segments: readonly string[]): (MemberTarget & { length: number; watched: boolean }) | undefined {
  const start = segments[0] === 'api' ? 2 : segments[0] === 'apis' ? 3 : undefined;
  const last = segments.at(-1) === '' ? segments.length - 1 : segments.length;
  if (start === undefined || last <= start) return undefined;
  const watched = segments[start] === OLD_WATCH && last > start + 1;
  let at = watched ? start + 1 : start;
  let namespace = '';
  if (segments[at] === 'namespaces' && last > at + 1) {
    namespace = segments[at + 1]!;
    if (last > at + 2 && !OF_NAMESPACES.has(segments[at + 2]!)) at += 2;
  }
  const [resource = '', name = '', subresource = ''] = segments.slice(at, Math.min(last, at + 3));
  const group = start === 3 ? segments[1]! : '';
  return { group, version: segments[start - 1]!, resource, subresource, namespace, name, length: at + 3, watched };
}

function verbOf(method: string, { name }: MemberTarget, watching: boolean): string {
  const verb = VERB_BY_METHOD.get(method) ?? method.toLowerCase();
  if (verb === 'get' && watching) return 'watch';
  if (name !== '') return verb;
  return verb === 'get' ? 'list' : verb === 'delete' ? 'deletecollection' : verb;
}

function asksToWatch(query: string): boolean {
  return query !== '' && isTrue(new URLSearchParams(query).get('watch'));
}

/** How Kubernetes reads a boolean in a query: there and neither `false` nor `0`. */
function isTrue(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

/** Whether there is a control character, a space, the `#` of a fragment, or a `\`, which some read as a slash. */
function hasForeignCharacter(path: string): boolean {
  for (const c of path) if (c <= ' ' || c === '\u007f' || c === '#' || c === '\\') return true;
  return false;
}

function isDots(segment: string): boolean {
  return segment === '.' || segment === '..';
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
