import type { Draw } from '../../soak/draw.ts';
import type { Fields } from '../objects/generated-kind.ts';
import type { Decision } from './decision.ts';
import { drawUser } from './draw-user.ts';
import { NAMES } from './random-rules.ts';
import { type RightsWorld, WIDGETS_PATH } from './rights-world.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };

/** Subresources that carry rights of their own: connections, evictions, bindings, tokens, scales, statuses. */
export function drawSubresource(draw: Draw, world: RightsWorld): Decision {
  const user = drawUser(draw, world, 'pods');
  const namespace = draw.pick(world.namespaces);
  const kind = draw.int(0, 6);
  const dry = { dryRun: 'All' };
  const name = draw.pick(NAMES);
  const pods = `/api/v1/namespaces/${namespace}/pods/${name}`;
  if (kind === 0) {
    const subresource = draw.pick(['exec', 'attach', 'portforward', 'proxy', 'proxy/x', 'log', 'exec/x', '']);
    const method = draw.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
    const root = draw.chance(0.1) ? pods.replace('/api/v1', '/api/v1/watch') : pods;
    const at = draw.chance(0.2) ? `/api/v1/nodes/${draw.pick(world.nodes)}/proxy/x` : `${root}/${subresource}`;
    const query = { ...dry, ...(at.includes('/watch/') && { timeoutSeconds: '1' }) };
    return { family: 'connection', user, request: { method, path: at, query }, compares: 'forbidden' };
  }
  if (kind === 1) {
    const body: Fields = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name, namespace } };
    return {
      family: 'eviction',
      user,
      request: { method: 'POST', path: `${pods}/eviction`, query: dry, body },
      compares: 'status',
    };
  }
  if (kind === 2) {
    const body: Fields = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { kind: 'Node', name: draw.pick(world.nodes) },
    };
    const path = draw.chance(0.7) ? `${pods}/binding` : `/api/v1/namespaces/${namespace}/bindings`;
    return {
      family: 'binding of a pod',
      user,
      request: { method: 'POST', path, query: dry, body },
      compares: 'status',
    };
  }
  if (kind === 3) {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${draw.pick(['sa1', 'sa2', 'none'])}/token`;
    const body = {
      spec: { audiences: draw.pick([['a'], []]), expirationSeconds: draw.pick([3600, 60]), ...boundTo(draw) },
    };
    return { family: 'token', user, request: { method: 'POST', path, body }, compares: 'status' };
  }
  if (kind === 4) return scale(draw, { user, namespace, name });
  return status(draw, { user, namespace, name }, world);
}

interface Where {
  user: string;
  namespace: string;
  name: string;
}

function boundTo(draw: Draw): Fields {
  if (draw.chance(0.6)) return {};
  return { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: draw.pick(NAMES), uid: 'x' } };
}

function scale(draw: Draw, { user, namespace, name }: Where): Decision {
  const path = draw.chance(0.5)
    ? `/apis/apps/v1/namespaces/${namespace}/deployments/one/scale`
    : `${WIDGETS_PATH}/namespaces/${namespace}/widgets/${name}/scale`;
  const method = draw.pick(['GET', 'PATCH', 'PATCH', 'DELETE']);
  const body = method === 'PATCH' ? { body: { spec: { replicas: 3 } }, headers: MERGE } : {};
  return { family: 'scale', user, request: { method, path, query: { dryRun: 'All' }, ...body }, compares: 'status' };
}

function status(draw: Draw, { user, namespace, name }: Where, world: RightsWorld): Decision {
  const labelled = draw.chance(0.3) ? { metadata: { labels: { a: 'b' } } } : {};
  const path = draw.pick([
    `/api/v1/namespaces/${namespace}/pods/${name}/status`,
    `/apis/apps/v1/namespaces/${namespace}/deployments/one/status`,
    `${WIDGETS_PATH}/namespaces/${namespace}/widgets/${name}/status`,
    `/api/v1/nodes/${draw.pick(world.nodes)}/status`,
    `/api/v1/namespaces/${namespace}/status`,
    `/api/v1/namespaces/${namespace}/finalize`,
  ]);
  const method = path.endsWith('/finalize') ? 'PUT' : draw.pick(['GET', 'PATCH', 'PATCH', 'PUT']);
  const query = { dryRun: 'All' };
  const family = path.endsWith('/finalize') ? 'finalize' : 'status';
  const request = { method, path, query };
  if (method === 'GET') return { family, user, request, compares: 'status' };
  const change = { ...labelled, status: {} };
  if (method === 'PUT') {
    return { family, user, request, base: { path: path.slice(0, path.lastIndexOf('/')), change }, compares: 'status' };
  }
  return { family, user, request: { ...request, headers: MERGE, body: change }, compares: 'status' };
}
