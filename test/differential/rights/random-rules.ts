import type { Draw } from '../../soak/draw.ts';
import { rule } from '../cases/as-user.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { RBAC_GROUP } from '../cases/as-user.ts';

const CERTIFICATES = 'certificates.k8s.io';
const CSRS = 'certificatesigningrequests';
export const SIGNERS = ['example.com/a', 'example.com/b', 'kubernetes.io/kube-apiserver-client'];
export const NAMES = ['one', 'two', 'three'];
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete'];
const VERBS = [...READ, ...WRITE, 'deletecollection', '*', 'bind', 'escalate', 'impersonate', 'approve', 'sign'];
const RBAC_RESOURCES = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'];

const RESOURCES: readonly (readonly [group: string, resource: string])[] = [
  ...['secrets', 'configmaps', 'pods', 'serviceaccounts', 'nodes', 'namespaces', 'users', 'groups'].map(ofGroup('')),
  ...['log', 'exec', 'attach', 'portforward', 'proxy', 'status', 'eviction', 'binding'].map(
    (subresource): [string, string] => ['', `pods/${subresource}`],
  ),
  ...['serviceaccounts/token', 'namespaces/finalize', 'nodes/status', 'nodes/proxy', '*'].map(ofGroup('')),
  ...RBAC_RESOURCES.map(ofGroup(RBAC_GROUP)),
  ...[CSRS, `${CSRS}/approval`, `${CSRS}/status`, 'signers'].map(ofGroup(CERTIFICATES)),
  ...['deployments', 'deployments/scale', 'deployments/status', '*/scale', '*'].map(ofGroup('apps')),
  ...['widgets', 'widgets/status', 'widgets/scale'].map(ofGroup('example.com')),
  ['coordination.k8s.io', 'leases'],
  ['*', '*'],
  ['*', '*/status'],
];

function ofGroup(group: string): (resource: string) => [string, string] {
  return (resource) => [group, resource];
}

export function some<T>(draw: Draw, from: readonly T[], most = 3): T[] {
  const count = draw.int(1, Math.min(most, from.length));
  return [...new Set(Array.from({ length: count }, () => draw.pick(from)))];
}

/** Rules that let a user get far: to the checks behind authorization. */
const PROFILES: readonly ((draw: Draw) => Fields[])[] = [
  (draw) => [
    rule([RBAC_GROUP], draw.pick([RBAC_RESOURCES, ['roles', 'clusterroles'], ['clusterroles']]), [...READ, ...WRITE]),
    draw.chance(0.6) ? rule([''], ['pods'], ['get']) : randomRule(draw),
    ...(draw.chance(0.3) ? [specialRule(draw)] : []),
  ],
  (draw) => [
    rule([RBAC_GROUP], ['rolebindings', 'clusterrolebindings'], WRITE),
    rule([''], ['pods'], some(draw, READ)),
    ...(draw.chance(0.4) ? [specialRule(draw)] : []),
  ],
  (draw) => [
    rule([CERTIFICATES], [CSRS, ...some(draw, [`${CSRS}/approval`, `${CSRS}/status`])], [...READ, ...WRITE]),
    ...(draw.chance(0.6)
      ? [
          rule(
            [CERTIFICATES],
            ['signers'],
            some(draw, ['approve', 'sign']),
            draw.chance(0.6) ? { resourceNames: some(draw, [...SIGNERS, 'example.com/*']) } : {},
          ),
        ]
      : []),
  ],
  (draw) => [
    rule(
      [''],
      ['users', 'groups', 'serviceaccounts'],
      ['impersonate'],
      draw.chance(0.5) ? { resourceNames: NAMES } : {},
    ),
    rule(['authentication.k8s.io'], ['userextras/scopes', '*'], ['impersonate']),
  ],
  (draw) => [rule([''], some(draw, ['secrets', 'configmaps', '*']), [...READ, 'deletecollection'], byName(draw, 0.8))],
  (draw) => [rule(['example.com'], ['widgets', 'widgets/status'], ['*'], byName(draw, 0.6))],
  () => [rule(['*'], ['*'], ['*'])],
  () => [rule(['*'], ['*'], ['*']), urlRule(['*'], ['*'])],
  (draw) => [urlRule(some(draw, ['/metrics', '/version', '/healthz/*', '/api*', '/openapi/v2', '*']), ['get'])],
];

function byName(draw: Draw, probability: number): Fields {
  return draw.chance(probability) ? { resourceNames: some(draw, NAMES) } : {};
}

function urlRule(nonResourceURLs: readonly string[], verbs: readonly string[]): Fields {
  return { nonResourceURLs, verbs };
}

function specialRule(draw: Draw): Fields {
  return rule(
    [RBAC_GROUP],
    some(draw, RBAC_RESOURCES),
    some(draw, ['bind', 'escalate']),
    draw.chance(0.4) ? { resourceNames: some(draw, ['light', 'heavy', 'cluster-admin', 'sum', ...NAMES]) } : {},
  );
}

function randomRule(draw: Draw): Fields {
  const [group, resource] = draw.pick(RESOURCES);
  return rule([group], [resource], some(draw, VERBS), byName(draw, 0.3));
}

/** Rules of one kind of user; each kind comes up in turn. */
export function profileRules(draw: Draw, turn: number): Fields[] {
  return PROFILES[turn % PROFILES.length]!(draw);
}

/** Of a role small enough that most requests of its users are refused, and large enough that some are not. */
export function randomRules(draw: Draw): Fields[] {
  if (draw.chance(0.65)) return draw.pick(PROFILES)(draw);
  return Array.from({ length: draw.int(1, 3) }, () => randomRule(draw));
}
