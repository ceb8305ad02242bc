import type { GroupVersion, GroupVersionKind } from '@asterism/machinery';
import type { ServedSubresource } from '../registry/registry.ts';
import type { DescribedResource } from './described-resource.ts';

/** Component names that operations refer to. */
export interface OperationSchemas {
  /** Of a kind, or undefined where it has no schema. */
  componentOf(kind: GroupVersionKind): string | undefined;
}

type Operation = Record<string, unknown>;
type PathItem = Record<string, unknown>;

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const PATCH_TYPES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
const STRATEGIC_PATCH_TYPE = 'application/strategic-merge-patch+json';

/**
 * The paths of a resource with the operations on it. Clients look here for the kind behind a path (`kubectl explain`) and
 * for the parameters and the kinds of patch that a PATCH takes (`kubectl apply` learns so whether the server validates fields and
 * does dry runs, and sends a strategic merge patch wherever one is offered: a custom resource must not).
 */
export function resourcePaths(
  at: GroupVersion,
  resource: DescribedResource,
  schemas: OperationSchemas,
): Record<string, PathItem> {
  const root = at.group === '' ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`;
  const { type } = resource;
  const base = type.namespaced ? `${root}/namespaces/{namespace}/${type.resource}` : `${root}/${type.resource}`;
  const paths: Record<string, PathItem> = {};
  const add = (path: string, item: PathItem): void => {
    if (Object.keys(item).length > 0) paths[path] = { ...item, parameters: pathParameters(path) };
  };
  add(base, collectionItem(resource, schemas));
  add(
    `${base}/{name}`,
    objectItem(
      resource,
      resource.verbs.filter((verb) => verb !== 'create'),
      resource.type,
      schemas,
    ),
  );
  if (type.namespaced && resource.verbs.includes('list')) {
    add(`${root}/${type.resource}`, { get: listOperation(resource, schemas) });
  }
  for (const subresource of resource.subresources)
    add(...subresourceItem(`${base}/{name}`, resource, subresource, schemas));
  return paths;
}

function subresourceItem(
  path: string,
  resource: DescribedResource,
  subresource: ServedSubresource,
  schemas: OperationSchemas,
): [string, PathItem] {
  return [`${path}/${subresource.name}`, objectItem(resource, subresource.verbs, subresource, schemas)];
}

function collectionItem(resource: DescribedResource, schemas: OperationSchemas): PathItem {
  const { verbs, type } = resource;
  return {
    ...(verbs.includes('list') ? { get: listOperation(resource, schemas) } : {}),
    ...(verbs.includes('create') ? { post: writeOperation('post', resource, type, schemas) } : {}),
    ...(verbs.includes('deletecollection')
      ? { delete: operation('deletecollection', type, `${META}.Status`, deleteBody()) }
      : {}),
  };
}

function objectItem(
  resource: DescribedResource,
  verbs: readonly string[],
  kind: GroupVersionKind,
  schemas: OperationSchemas,
): PathItem {
  return {
    ...(verbs.includes('get') ? { get: operation('get', kind, schemas.componentOf(kind)) } : {}),
    ...(verbs.includes('create') ? { post: writeOperation('post', resource, kind, schemas) } : {}),
    ...(verbs.includes('update') ? { put: writeOperation('put', resource, kind, schemas) } : {}),
    ...(verbs.includes('patch') ? { patch: writeOperation('patch', resource, kind, schemas) } : {}),
    ...(verbs.includes('delete') ? { delete: operation('delete', kind, `${META}.Status`, deleteBody()) } : {}),
  };
}

function listOperation(resource: DescribedResource, schemas: OperationSchemas): Operation {
  const { group, version } = resource.type;
  const list = schemas.componentOf({ group, version, kind: resource.listKind });
  const parameters = [
    query('labelSelector'),
    query('fieldSelector'),
    query('limit', 'integer'),
    query('continue'),
    query('resourceVersion'),
    query('resourceVersionMatch'),
    query('timeoutSeconds', 'integer'),
    query('watch', 'boolean'),
    query('allowWatchBookmarks', 'boolean'),
    query('sendInitialEvents', 'boolean'),
  ];
  return operation('list', resource.type, list, { parameters });
}

function writeOperation(
  action: 'post' | 'put' | 'patch',
  { storage }: DescribedResource,
  kind: GroupVersionKind,
  schemas: OperationSchemas,
): Operation {
  const component = schemas.componentOf(kind);
  const patchTypes = storage === 'custom' ? PATCH_TYPES : [...PATCH_TYPES, STRATEGIC_PATCH_TYPE];
  const content =
    action === 'patch'
      ? Object.fromEntries(patchTypes.map((type) => [type, { schema: reference(`${META}.Patch`) }]))
      : { '*/*': { schema: component === undefined ? { type: 'object' } : reference(component) } };
  const parameters = [
    query('dryRun'),
    query('fieldManager'),
    query('fieldValidation'),
    ...(action === 'patch' ? [query('force', 'boolean')] : []),
  ];
  return operation(action, kind, component, { requestBody: { content }, parameters });
}

function operation(
  action: string,
  kind: GroupVersionKind,
  component: string | undefined,
  rest: Operation = {},
): Operation {
  const { group, version } = kind;
  const content = component === undefined ? {} : { content: { 'application/json': { schema: reference(component) } } };
  return {
    ...rest,
    responses: { '200': { description: 'OK', ...content } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
  };
}

function deleteBody(): Operation {
  const content = { '*/*': { schema: reference(`${META}.DeleteOptions`) } };
  return {
    requestBody: { content },
    parameters: [query('dryRun'), query('gracePeriodSeconds', 'integer'), query('propagationPolicy')],
  };
}

function query(name: string, type = 'string') {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

function pathParameters(path: string) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  }));
}

export function reference(component: string) {
  return { $ref: `#/components/schemas/${component}` };
}
