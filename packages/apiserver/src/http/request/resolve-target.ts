import { badRequest, isGoDuration } from '@asterism/machinery';
import { methodNotAllowed, resourceNotServed } from '../answer/answer.ts';
import type { ApiCall } from './api-call.ts';
import { checkProducible } from '../answer/negotiate.ts';
import type { ServedResource, ServedSubresource } from '../../contract/served-resource.ts';
import type { FoundResource } from './find-resource.ts';

/** A call, and the part of the registry that it addresses. */
export interface Target extends FoundResource {
  call: ApiCall;
  ref: { namespace: string | undefined; name: string };
  /** The call opens a connection to a pod, node or service: the registry does not answer it. */
  connects: boolean;
}

const READING_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/**
 * The target of a call. Throws, as upstream, if the resource does not have the subresource, scope or verb of the call, or if a parameter
 * that every verb has is invalid.
 */
export function resolveTarget(call: ApiCall, { resource, subresource }: FoundResource): Target {
  const { info, request } = call;
  if (info.subresource !== '' && subresource === undefined) throw resourceNotServed();
  if (info.rest !== '' && info.rest !== '/') throw resourceNotServed();
  const isNamespace = info.group === '' && info.resource === 'namespaces';
  const { named } = info;
  if (!isNamespace) checkScope(resource, info.namespace, named);
  if (!(subresource?.verbs ?? resource.verbs).includes(info.verb)) throw methodNotAllowed();
  // HEAD reads nothing, and the prefix watch/ makes a watch of GET alone.
  const connects = subresource !== undefined && isConnection(subresource);
  if (READING_VERBS.has(info.verb) && request.method !== 'GET' && !connects) throw methodNotAllowed();
  if (resource.type.namespaced && info.namespace === '' && info.verb !== 'list' && info.verb !== 'watch') {
    throw methodNotAllowed();
  }
  if (info.verb === 'create' && named !== (subresource !== undefined)) throw methodNotAllowed();
  if ((info.verb === 'update' || info.verb === 'patch') && !named) throw methodNotAllowed();
  if (resource.storage === 'builtin' && !connects) {
    checkProducible(request.headers.accept, info.verb === 'list' || info.verb === 'watch');
  }
  if (request.query.has('export')) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  }
  checkTimeout(request.query);
  if (resource.warning !== undefined) warnOfDeprecation(call, resource.warning);
  const namespace = isNamespace || !resource.type.namespaced ? undefined : info.namespace || undefined;
  const ref = { namespace, name: named && info.verb !== 'watch' ? info.name : '' };
  return { call, resource, subresource, ref, connects };
}

function warnOfDeprecation({ warn, audit }: ApiCall, warning: string): void {
  warn(warning);
  audit?.annotate('k8s.io/deprecated', 'true');
  const [, removed] = /unavailable in v(\d+\.\d+)\+/.exec(warning) ?? [];
  if (removed !== undefined) audit?.annotate('k8s.io/removed-release', removed);
}

/** Subresources that are no objects: their kind is that of the connection's options. `log` says it is a Pod. */
function isConnection({ name, kind }: ServedSubresource): boolean {
  return name === 'log' || kind.endsWith('Options');
}

/** 404 for a cluster-scoped resource below a namespace, and for one object of a namespaced resource without it. */
function checkScope({ type }: ServedResource, namespace: string, named: boolean): void {
  if (!type.namespaced && namespace !== '') throw resourceNotServed();
  if (type.namespaced && namespace === '' && named) throw resourceNotServed();
}

/** Go's durations: `5s`, `1m30s`, `1.5h`. The server answers before any; the value is only checked. */
function checkTimeout(query: URLSearchParams): void {
  const timeout = query.get('timeout');
  if (timeout === null || timeout === '' || isGoDuration(timeout)) return;
  throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(timeout)}`);
}
