import { badRequest, failure, type StatusError } from '@asterism/machinery';

/** What a path below `resources` asks for. */
export type SearchPath = DiscoveryPath | ObjectsPath;

/** `api`, `apis`, `apis/GROUP`, `api/VERSION`, `apis/GROUP/VERSION`: what there is to search. */
export interface DiscoveryPath {
  about: 'discovery';
  root: 'api' | 'apis';
  /** `''` for the core group. */
  group?: string;
  version?: string;
}

export interface ObjectsPath {
  about: 'objects';
  /** Of `clusters/NAME/…`. */
  cluster?: string;
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  /** One object; otherwise a list. */
  name?: string;
}

/**
 * Reads a path below `resources`: the paths of any API server, over all clusters or, behind `clusters/NAME`, over one.
 *
 * @param path what follows `resources`, percent-encoded: `/clusters/a/api/v1/namespaces/demo/pods/web`
 * @throws StatusError 404 for a path that leads nowhere, 400 for one that is not valid percent-encoding.
 */
export function parseSearchPath(path: string): SearchPath {
  const segments = path.replace(/\/$/, '').split('/').slice(1).map(decode);
  const [first, cluster, ...below] = segments;
  if (first !== 'clusters') return parseApiPath(segments);
  if (!cluster || below.length === 0) throw nowhere();
  const parsed = parseApiPath(below);
  return parsed.about === 'objects' ? { ...parsed, cluster } : parsed;
}

function parseApiPath([root, ...rest]: readonly string[]): SearchPath {
  if ((root !== 'api' && root !== 'apis') || rest.includes('')) throw nowhere();
  const [group, version, ...below] = root === 'api' ? ['', ...rest] : rest;
  if (group === undefined || (root === 'api' && version === undefined)) return { about: 'discovery', root };
  if (version === undefined) return { about: 'discovery', root, group };
  if (below.length === 0) return { about: 'discovery', root, group, version };
  return { about: 'objects', group, version, ...parseResource(below) };
}

/** `namespaces/x` is a Namespace, `namespaces/x/pods` what is in it. */
function parseResource(below: readonly string[]): Pick<ObjectsPath, 'resource' | 'namespace' | 'name'> {
  const scoped = below[0] === 'namespaces' && below.length > 2;
  const namespace = scoped ? below[1] : undefined;
  const [resource = '', name, subresource] = scoped ? below.slice(2) : below;
  if (subresource !== undefined) {
    throw failure(
      404,
      `search has no subresources: ${JSON.stringify(subresource)} is to be asked of the cluster itself`,
    );
  }
  return { resource, ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`the path segment ${JSON.stringify(segment)} is not valid percent-encoding`);
  }
}

function nowhere(): StatusError {
  return failure(
    404,
    'the server could not find the requested resource: what can be searched stands below resources/api, resources/apis, ' +
      'resources/clusters/NAME/api and resources/clusters/NAME/apis',
  );
}
