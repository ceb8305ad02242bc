import type { Draw } from '../../soak/draw.ts';
import { binding, inNamespace, RBAC, role, rule, userSubject } from '../cases/as-user.ts';
import type { Fields } from '../objects/generated-kind.ts';
import type { Decision } from './decision.ts';
import { drawUser } from './draw-user.ts';
import { randomRules } from './random-rules.ts';
import type { RightsWorld } from './rights-world.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };
/** Of a role that is aggregated: no longer, of nothing, of other roles. */
const AGGREGATIONS: readonly Fields[] = [
  { aggregationRule: null },
  { aggregationRule: { clusterRoleSelectors: [] } },
  { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
];

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };

/** Creates, updates and patches of roles and bindings, never stored. */
export function drawRightsWrite(draw: Draw, world: RightsWorld): Decision {
  const isRole = draw.chance(0.55);
  const namespace = draw.chance(0.45) ? draw.pick(world.namespaces) : undefined;
  const collection =
    namespace === undefined
      ? `${RBAC}/cluster${isRole ? 'roles' : 'rolebindings'}`
      : inNamespace(namespace, isRole ? 'roles' : 'rolebindings');
  const what = namespace === undefined ? `Cluster${isRole ? 'Role' : 'RoleBinding'}` : isRole ? 'Role' : 'RoleBinding';
  const user = drawUser(draw, world, collection.slice(collection.lastIndexOf('/') + 1));
  const query = { dryRun: 'All' };
  if (draw.chance(0.35)) {
    const body = isRole ? newRole(draw, what) : newBinding(draw, world, namespace === undefined);
    return {
      family: `create ${what}`,
      user,
      request: { method: 'POST', path: collection, query, body },
      compares: 'rights',
    };
  }
  const clusterWide = isRole ? world.clusterRoles : world.clusterBindings;
  const sum = `sum-${world.round}`;
  const aggregates = namespace === undefined && isRole && draw.chance(0.3);
  const name = aggregates ? sum : namespace === undefined ? draw.pick(clusterWide) : draw.pick(['light', 'heavy']);
  const path = `${collection}/${name}`;
  const change =
    aggregates && draw.chance(0.5) ? draw.pick(AGGREGATIONS) : drawChange(draw, isRole, namespace === undefined);
  if (draw.chance(0.4)) {
    return {
      family: `update ${what}`,
      user,
      request: { method: 'PUT', path, query },
      base: { path, change },
      compares: 'rights',
    };
  }
  const request = { method: 'PATCH', path, query, headers: MERGE, body: change };
  return { family: `patch ${what}`, user, request, compares: 'rights' };
}

/** Of one part of the object or of two, and now and then of none. */
function drawChange(draw: Draw, isRole: boolean, isClusterWide: boolean): Fields {
  const metadata = (fields: Fields): Fields => ({ metadata: fields });
  const changes: (() => Fields)[] = [
    () => ({}),
    () => metadata({ labels: { to: draw.pick(['sum', 'view', '']) } }),
    () => metadata({ labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }),
    () => metadata({ annotations: { a: 'b' } }),
    () => metadata({ finalizers: ['example.com/f'] }),
    () => metadata({ ownerReferences: [{ ...OWNER, ...(draw.chance(0.5) && { blockOwnerDeletion: true }) }] }),
    () => metadata({ finalizers: [], ownerReferences: [] }),
    () => metadata({ finalizers: ['example.com/f'], labels: { a: 'b' } }),
    ...(isRole
      ? [
          () => ({ rules: randomRules(draw) }),
          () => ({ rules: [rule([''], ['pods'], ['get'])] }),
          () => ({ rules: [] }),
          ...(isClusterWide ? AGGREGATIONS.map((each) => () => each) : []),
        ]
      : [() => ({ subjects: [userSubject('one')] }), () => ({ subjects: [] }), () => ({ roleRef: { name: 'other' } })]),
  ];
  return draw.chance(0.85) ? draw.pick(changes)() : { ...draw.pick(changes)(), ...draw.pick(changes)() };
}

function newRole(draw: Draw, what: string): Fields {
  const made = role(`new${draw.int(0, 99)}`, draw.chance(0.3) ? [rule([''], ['pods'], ['get'])] : randomRules(draw));
  const aggregates = what === 'ClusterRole' && draw.chance(0.3);
  return {
    ...made,
    kind: what,
    ...(aggregates && {
      aggregationRule: draw.pick([
        {},
        { clusterRoleSelectors: [] },
        { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
      ]),
    }),
  };
}

function newBinding(draw: Draw, { clusterRoles }: RightsWorld, isClusterWide: boolean): Fields {
  const ofCluster = isClusterWide || draw.chance(0.5);
  const name = ofCluster ? draw.pick([...clusterRoles, 'none']) : draw.pick(['light', 'heavy', 'none']);
  const made = binding(
    ofCluster ? 'ClusterRole' : 'Role',
    name,
    draw.chance(0.9) ? [userSubject('one')] : [],
    `new${draw.int(0, 99)}`,
  );
  return { ...made, kind: isClusterWide ? 'ClusterRoleBinding' : 'RoleBinding' };
}
