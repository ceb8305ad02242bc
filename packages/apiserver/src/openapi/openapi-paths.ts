import type { GroupVersion, GroupVersionKind } from '@asterism/machinery';
import { MEDIA_TYPE, STREAMED_TYPES } from '../http/answer/negotiate.ts';
import type { DescribedResource } from './described-resource.ts';
import { type NamedOperation, operationId, operationTag } from './operation-id.ts';
import type { ServedSubresource } from '../contract/served-resource.ts';

/** Component names that operations refer to. */
export interface OperationSchemas {
  /** Of a kind, or undefined where it has no schema. */
  componentOf(kind: GroupVersionKind): string | undefined;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path';
  required?: boolean;
  schema: { type: string; uniqueItems: boolean };
}

type Content = Readonly<Record<string, { schema: object }>>;

/** An operation of OpenAPI v3. */
export interface Operation {
  tags: readonly string[];
  operationId: string;
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Readonly<Record<string, { description: string; content?: Content }>>;
  'x-kubernetes-action': string;
  'x-kubernetes-group-version-kind': GroupVersionKind;
}

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

export type PathItem = { [method in Method]?: Operation } & { parameters?: readonly Parameter[] };

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const STRATEGIC_PATCH_TYPE = 'application/strategic-merge-patch+json';

/** One URL of a resource: all its objects, one of them, or a part of one. */
interface Place {
  at: GroupVersion;
  resource: DescribedResource;
  schemas: OperationSchemas;
  subresource?: ServedSubresource;
  everywhere?: boolean;
  method?: Method;
}

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
  const { type, verbs, subresources } = resource;
  const base = type.namespaced ? `${root}/namespaces/{namespace}/${type.resource}` : `${root}/${type.resource}`;
  const paths: Record<string, PathItem> = {};
  const add = (path: string, item: PathItem): void => {
    if (Object.keys(item).length === 0) return;
    const parameters = pathParameters(path);
    paths[path] = parameters.length === 0 ? item : { ...item, parameters };
  };
  const place: Place = { at, resource, schemas };
  add(base, collectionItem(place));
  const ofOne = verbs.filter((verb) => verb !== 'create');
  add(`${base}/{name}`, objectItem(place, ofOne, type));
  if (type.namespaced && verbs.includes('list')) {
    add(`${root}/${type.resource}`, { get: listOperation({ ...place, everywhere: true }) });
  }
  for (const subresource of subresources) {
    add(`${base}/{name}/${subresource.name}`, objectItem({ ...place, subresource }, subresource.verbs, subresource));
  }
  return paths;
}

function collectionItem(place: Place): PathItem {
  const { verbs, type } = place.resource;
  return {
    ...(verbs.includes('list') ? { get: listOperation(place) } : {}),
    ...(verbs.includes('create') ? { post: writeOperation(place, 'post', type) } : {}),
    ...(verbs.includes('deletecollection') ? { delete: deleteOperation(place, 'deletecollection', type) } : {}),
  };
}

function objectItem(place: Place, verbs: readonly string[], kind: GroupVersionKind): PathItem {
  if (kind.kind.endsWith('Options')) return connectionItem(place, verbs, kind);
  return {
    ...(verbs.includes('get') ? { get: operation(place, 'get', kind) } : {}),
    ...(verbs.includes('create') ? { post: writeOperation(place, 'post', kind) } : {}),
    ...(verbs.includes('update') ? { put: writeOperation(place, 'put', kind) } : {}),
    ...(verbs.includes('patch') ? { patch: writeOperation(place, 'patch', kind) } : {}),
    ...(verbs.includes('delete') ? { delete: deleteOperation(place, 'delete', kind) } : {}),
  };
}

/** What opens a connection rather than answers with an object: its kind is that of the options. */
function connectionItem(place: Place, verbs: readonly string[], kind: GroupVersionKind): PathItem {
  const answer = { content: ['*/*'], schema: { type: 'string' } };
  const connections = METHODS.filter(([verb]) => verbs.includes(verb)).map(([, method]) => [
    method,
    operation({ ...place, method }, 'connect', kind, answer),
  ]);
  return Object.fromEntries(connections);
}

const METHODS: readonly [verb: string, method: Method][] = [
  ['get', 'get'],
  ['create', 'post'],
  ['update', 'put'],
  ['patch', 'patch'],
  ['delete', 'delete'],
];

function listOperation(place: Place): Operation {
  const { type, listKind, storage } = place.resource;
  const component = place.schemas.componentOf({ ...place.at, kind: listKind });
  const content = [...mediaTypes(storage === 'builtin'), ...(storage === 'builtin' ? STREAMED_TYPES : [])];
  return {
    ...operation(place, 'list', type, { content, schema: schemaOf(component) }),
    parameters: [
      query('allowWatchBookmarks', 'boolean'),
      query('continue'),
      query('fieldSelector'),
      query('labelSelector'),
      query('limit', 'integer'),
      query('resourceVersion'),
      query('resourceVersionMatch'),
      query('sendInitialEvents', 'boolean'),
      query('timeoutSeconds', 'integer'),
      query('watch', 'boolean'),
    ],
  };
}

function writeOperation(place: Place, action: 'post' | 'put' | 'patch', kind: GroupVersionKind): Operation {
  const { storage } = place.resource;
  const schema = schemaOf(action === 'patch' ? `${META}.Patch` : place.schemas.componentOf(kind));
  const bodyTypes = storage === 'custom' ? [MEDIA_TYPE.json, MEDIA_TYPE.yaml] : ['*/*'];
  const patchTypes = storage === 'custom' ? PATCH_TYPES : [...PATCH_TYPES, STRATEGIC_PATCH_TYPE];
  const content = Object.fromEntries((action === 'patch' ? patchTypes : bodyTypes).map((type) => [type, { schema }]));
  return {
    ...operation(place, action, kind),
    requestBody: { required: true, content },
    parameters: [
      query('dryRun'),
      query('fieldManager'),
      query('fieldValidation'),
      ...(action === 'patch' ? [query('force', 'boolean')] : []),
    ],
  };
}

function deleteOperation(place: Place, action: 'delete' | 'deletecollection', kind: GroupVersionKind): Operation {
  const content = mediaTypes(place.resource.storage === 'builtin');
  return {
    ...operation(place, action, kind, { content, schema: reference(`${META}.Status`) }),
    requestBody: { content: { '*/*': { schema: reference(`${META}.DeleteOptions`) } } },
    parameters: [
      query('dryRun'),
      query('gracePeriodSeconds', 'integer'),
      query('orphanDependents', 'boolean'),
      query('propagationPolicy'),
    ],
  };
}

/** The codes with which an action succeeds. */
const SUCCESS: Readonly<Record<string, readonly [code: string, description: string][]>> = {
  post: [
    ['200', 'OK'],
    ['201', 'Created'],
    ['202', 'Accepted'],
  ],
  put: [
    ['200', 'OK'],
    ['201', 'Created'],
  ],
  patch: [
    ['200', 'OK'],
    ['201', 'Created'],
  ],
  delete: [
    ['200', 'OK'],
    ['202', 'Accepted'],
  ],
};
const SUCCESS_ALONE: readonly [code: string, description: string][] = [['200', 'OK']];

/** @param answer by default the kind itself */
function operation(
  { at, resource, schemas, subresource, everywhere, method }: Place,
  action: string,
  { group, version, kind }: GroupVersionKind,
  answer: { content: readonly string[]; schema: object } = {
    content: mediaTypes(resource.storage === 'builtin'),
    schema: schemaOf(schemas.componentOf({ group, version, kind })),
  },
): Operation {
  const { type } = resource;
  const named: NamedOperation = { action, kind: type.kind, namespaced: type.namespaced, everywhere, method };
  const content = Object.fromEntries(answer.content.map((mediaType) => [mediaType, { schema: answer.schema }]));
  const answers = (SUCCESS[action] ?? SUCCESS_ALONE).map(([code, description]) => [code, { description, content }]);
  return {
    tags: [operationTag(at)],
    operationId: operationId(at, { ...named, subresource: subresource?.name }),
    responses: { ...Object.fromEntries(answers), '401': { description: 'Unauthorized' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}

function mediaTypes(builtin: boolean): string[] {
  return builtin ? [MEDIA_TYPE.json, MEDIA_TYPE.yaml, MEDIA_TYPE.protobuf] : [MEDIA_TYPE.json, MEDIA_TYPE.yaml];
}

function query(name: string, type = 'string'): Parameter {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  }));
}

function schemaOf(component: string | undefined): object {
  return component === undefined ? { type: 'object' } : reference(component);
}

export function reference(component: string) {
  return { $ref: `#/components/schemas/${component}` };
}
