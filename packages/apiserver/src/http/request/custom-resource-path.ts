import { badRequest, failure, formatGroupResource, notFound, type StatusError } from '@asterism/machinery';
import type { Registry } from '../../registry/registry.ts';
import type { ServedResource } from '../../contract/served-resource.ts';
import type { FoundResource } from './find-resource.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { pageNotFound } from '../health/page-not-found.ts';
import type { RequestInfo } from '../../contract/request-info.ts';

/** What upstream's server of custom resources says of the kinds in another way than that of built-in kinds. */
const ACROSS_NAMESPACES = ['list', 'watch'];

/**
 * The answer to a path in a group without built-in kinds that leads to no custom resource: as upstream, no `Status` but a
 * page that was not found. Undefined where the path is good, or below a group of the server's own.
 *
 * Throws 404 for a subresource that the definition does not have, and 405 for a verb that a custom resource or its part lacks.
 */
export function refuseCustomPath(
  registry: Registry,
  info: RequestInfo,
  found: FoundResource | undefined,
): ApiResponse | undefined {
  if (!found) return hasBuiltinKinds(registry, info.group) ? undefined : pageNotFound();
  const { resource, subresource: part } = found;
  if (resource.storage !== 'custom') return undefined;
  const { namespaced } = resource.type;
  const inNamespace = info.namespace !== '';
  if (inNamespace ? !namespaced : namespaced && !ACROSS_NAMESPACES.includes(info.verb)) return pageNotFound();
  if (info.subresource !== '' && !part) throw notFound(resource.type, info.name);
  if (info.name === '' && (info.verb === 'update' || info.verb === 'patch')) throw badRequest('name must be provided');
  if (!(part?.verbs ?? resource.verbs).includes(info.verb)) throw notSupported(resource, info.verb);
  return undefined;
}

function hasBuiltinKinds(registry: Registry, group: string): boolean {
  return registry.served().some(({ type, storage }) => storage === 'builtin' && type.group === group);
}

function notSupported({ type }: ServedResource, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind ${JSON.stringify(formatGroupResource(type))}`;
  return failure(405, message, { details: { group: type.group, kind: type.resource } });
}

/** 400 for a body at the scale of a custom resource that is none, with the place in upstream's code that it names. */
export function notOfKind(kind: string): StatusError {
  const scheme = 'k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781';
  return badRequest(`no kind is registered for the type v1.${kind} in scheme "${scheme}"`);
}
