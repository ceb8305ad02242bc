import type { Draw } from '../../soak/draw.ts';
import type { Fields } from '../objects/generated-kind.ts';
import type { Decision } from './decision.ts';
import { drawUser } from './draw-user.ts';
import { NAMES } from './random-rules.ts';
import { type RightsWorld, WIDGETS_PATH } from './rights-world.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };

/** Writes and deletions of ordinary objects, Nodes and Leases. Never stored. */
export function drawObjectWrite(draw: Draw, world: RightsWorld): Decision {
  const query: Record<string, string> = { dryRun: 'All' };
  const { collection, name, create } = draw.chance(0.3) ? ofNodes(draw, world) : ofNamespace(draw, world);
  const user = drawUser(draw, world, collection.slice(collection.lastIndexOf('/') + 1));
  const kind = draw.int(0, 5);
  if (kind === 0)
    return {
      family: 'create',
      user,
      request: { method: 'POST', path: collection, query, body: create },
      compares: 'status',
    };
  if (kind === 1)
    return {
      family: 'delete',
      user,
      request: { method: 'DELETE', path: `${collection}/${name}`, query },
      compares: 'status',
    };
  if (kind === 2 || kind === 5) {
    const exact = `metadata.name=${draw.pick([name, ...NAMES])}`;
    const selector = draw.pick([undefined, exact, exact, exact, `metadata.name!=${name}`, '((']);
    const request = {
      method: 'DELETE',
      path: collection,
      query: { ...query, ...(selector && { fieldSelector: selector }) },
    };
    return { family: 'deletecollection', user, request, compares: 'names' };
  }
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', blockOwnerDeletion: draw.chance(0.5) };
  const change = draw.pick<Fields>([
    {},
    { metadata: { labels: { a: 'b' } } },
    { metadata: { labels: { 'node-role.kubernetes.io/x': '' } } },
    { metadata: { ownerReferences: [owner] } },
    { metadata: { finalizers: ['example.com/f'] } },
  ]);
  const path = `${collection}/${name}`;
  if (kind === 3)
    return {
      family: 'update',
      user,
      request: { method: 'PUT', path, query },
      base: { path, change },
      compares: 'status',
    };
  return {
    family: 'patch',
    user,
    request: { method: 'PATCH', path, query, headers: MERGE, body: change },
    compares: 'status',
  };
}

interface Written {
  collection: string;
  name: string;
  create: Fields;
}

function ofNamespace(draw: Draw, { namespaces }: RightsWorld): Written {
  const [root, resource] = draw.pick([
    ['/api/v1', 'secrets'],
    ['/api/v1', 'configmaps'],
    ['/api/v1', 'pods'],
    [WIDGETS_PATH, 'widgets'],
  ] as const);
  const collection = `${root}/namespaces/${draw.pick(namespaces)}/${resource}`;
  const custom = resource === 'widgets' ? { apiVersion: 'example.com/v1', kind: 'Widget' } : {};
  const pod = resource === 'pods' ? { spec: { containers: [{ name: 'c', image: 'i' }] } } : {};
  const own = draw.pick([...NAMES, 'fresh']);
  return { collection, name: draw.pick([...NAMES, 'none']), create: { ...custom, metadata: { name: own }, ...pod } };
}

function ofNodes(draw: Draw, { nodes }: RightsWorld): Written {
  const name = draw.pick(nodes);
  return { collection: '/api/v1/nodes', name, create: { metadata: { name: draw.pick([...nodes, 'fresh']) } } };
}
