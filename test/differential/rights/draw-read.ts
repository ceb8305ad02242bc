import type { Draw } from '../../soak/draw.ts';
import type { Decision } from './decision.ts';
import { drawUser } from './draw-user.ts';
import { NAMES } from './random-rules.ts';
import type { RightsWorld } from './rights-world.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };
const WITH_BODY = new Set(['PATCH']);

/** A namespaced resource: its root and its plural. */
const NAMESPACED = [
  ['/api/v1', 'secrets'],
  ['/api/v1', 'secrets'],
  ['/api/v1', 'configmaps'],
  ['/api/v1', 'pods'],
  ['/apis/example.com/v1', 'widgets'],
  ['/apis/example.com/v1', 'widgets'],
  ['/apis/apps/v1', 'deployments'],
  ['/apis/rbac.authorization.k8s.io/v1', 'roles'],
  ['/apis/rbac.authorization.k8s.io/v1', 'rolebindings'],
] as const;

/** Ways to the same objects: with and without names, selectors, the prefix watch/, other methods, encoded paths. */
export function drawRead(draw: Draw, world: RightsWorld): Decision {
  if (draw.chance(0.12)) return drawUrl(draw, world);
  const { path, isCustom, name, prefixed, resource } = drawPath(draw, world);
  const user = drawUser(draw, world, resource);
  const query: Record<string, string> = {};
  const selector = name === undefined || prefixed ? draw.chance(0.5) : draw.chance(0.1);
  if (selector) query['fieldSelector'] = drawSelector(draw, name, path);
  if (draw.chance(0.15)) query['labelSelector'] = draw.pick(['app=one', 'app!=one', 'x']);
  if (!prefixed && draw.chance(0.3)) query['watch'] = draw.pick(['true', '1', 'false', '0']);
  const method = draw.chance(0.85) ? 'GET' : draw.pick(['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
  const watches = prefixed || (name === undefined && (query['watch'] === 'true' || query['watch'] === '1'));
  if (watches) query['timeoutSeconds'] = '1';
  if (method !== 'GET') query['dryRun'] = 'All';
  return {
    family: `${method === 'GET' ? '' : `${method} `}${prefixed ? 'watch/ prefix' : watches ? 'watch' : name === undefined ? 'list' : 'get'}${isCustom ? ' of custom resources' : ''}`,
    user,
    request: { method, path: encoded(draw, path), query, ...(WITH_BODY.has(method) && { headers: MERGE, body: {} }) },
    compares: method === 'GET' ? 'names' : 'status',
  };
}

function drawPath(draw: Draw, { namespaces, nodes, round, clusterRoles, signingRequests }: RightsWorld) {
  const prefixed = draw.chance(0.35);
  const watch = prefixed ? '/watch' : '';
  const isNamed = draw.chance(0.6);
  if (draw.chance(0.2)) {
    const [root, resource, names] = draw.pick([
      ['/api/v1', 'nodes', nodes],
      ['/api/v1', 'namespaces', namespaces],
      ['/apis/rbac.authorization.k8s.io/v1', 'clusterroles', clusterRoles],
      ['/apis/rbac.authorization.k8s.io/v1', 'clusterrolebindings', [`bound-${round}`]],
      ['/apis/certificates.k8s.io/v1', 'certificatesigningrequests', signingRequests],
    ] as const);
    const name = isNamed ? draw.pick(names) : undefined;
    const tail = name === undefined ? '' : `/${name}`;
    return { path: `${root}${watch}/${resource}${tail}`, isCustom: false, name, prefixed, resource };
  }
  const [root, resource] = draw.pick(NAMESPACED);
  const place = draw.chance(0.85) ? `/namespaces/${draw.pick(namespaces)}` : '';
  const name = isNamed ? draw.pick([...NAMES, ...NAMES, 'light', 'none']) : undefined;
  const tail = name === undefined ? '' : `/${name}`;
  return {
    path: `${root}${watch}${place}/${resource}${tail}`,
    isCustom: resource === 'widgets',
    name,
    prefixed,
    resource,
  };
}

function drawSelector(draw: Draw, name: string | undefined, path: string): string {
  const other = draw.pick(NAMES);
  const further = path.includes('/secrets') ? ',type=Opaque' : path.includes('/pods') ? ',spec.nodeName=n' : '';
  return draw.pick([
    `metadata.name=${name ?? other}`,
    `metadata.name=${name ?? other}`,
    `metadata.name==${other}`,
    `metadata.name!=${other}`,
    `metadata.name=${other}${further}`,
    `metadata.name=one,metadata.name=two`,
    'metadata.name=',
    'metadata.name=..',
    'metadata.namespace=default',
    `${further.slice(1) || 'metadata.name=one'}`,
    'no.such.field=x',
    '((',
  ]);
}

/** Some of its characters percent-encoded, slashes too. */
function encoded(draw: Draw, path: string): string {
  if (draw.chance(0.88)) return path;
  const at = draw.int(1, path.length - 1);
  const code = path.charCodeAt(at).toString(16).padStart(2, '0');
  return `${path.slice(0, at)}%${code}${path.slice(at + 1)}`;
}

const URLS = [
  '/metrics',
  '/version',
  '/version/',
  '/healthz',
  '/healthz/ping',
  '/healthz/',
  '/livez',
  '/readyz',
  '/api',
  '/api/',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/openapi/v2',
  '/metrics/',
  '/logs',
  '/',
  '/nothing',
];

function drawUrl(draw: Draw, world: RightsWorld): Decision {
  const method = draw.chance(0.8) ? 'GET' : draw.pick(['HEAD', 'POST', 'PUT']);
  const path = encoded(draw, `${draw.pick(URLS)} `).replace(/ $|%20$/, '');
  return { family: 'path', user: drawUser(draw, world), request: { method, path: path || '/' }, compares: 'forbidden' };
}
