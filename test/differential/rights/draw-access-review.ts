import type { Draw } from '../../soak/draw.ts';
import type { Fields } from '../objects/generated-kind.ts';
import type { Decision } from './decision.ts';
import { drawUser } from './draw-user.ts';
import { NAMES } from './random-rules.ts';
import type { RightsWorld } from './rights-world.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1';
const VERBS = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'delete',
  'deletecollection',
  'bind',
  'escalate',
  'approve',
  'sign',
  'impersonate',
  '*',
];
const RESOURCES = [
  ['', 'secrets'],
  ['', 'pods'],
  ['', 'users'],
  ['', 'nodes'],
  ['apps', 'deployments'],
  ['example.com', 'widgets'],
  ['rbac.authorization.k8s.io', 'clusterroles'],
  ['certificates.k8s.io', 'signers'],
  ['*', '*'],
] as const;

/** What servers say of rights when they are asked. */
export function drawAccessReview(draw: Draw, world: RightsWorld): Decision {
  const about = draw.pick(world.identities);
  const self = draw.chance(0.4);
  const namespace = draw.pick([...world.namespaces, '']);
  const user = self ? drawUser(draw, world) : draw.pick(['admin', 'admin', drawUser(draw, world)]);
  const make = (kind: string, path: string, spec: Fields): Decision => {
    const metadata = draw.chance(0.05) ? { metadata: { name: 'x' } } : {};
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, ...metadata, spec };
    return { family: kind, user, request: { method: 'POST', path: `${REVIEWS}/${path}`, body }, compares: 'rights' };
  };
  if (self && draw.chance(0.3)) {
    const spec = { namespace: draw.pick([...world.namespaces, 'default']) };
    return make('SelfSubjectRulesReview', 'selfsubjectrulesreviews', spec);
  }
  const attributes = draw.chance(0.85)
    ? { resourceAttributes: resourceAttributes(draw, namespace) }
    : {
        nonResourceAttributes: {
          path: draw.pick(['/metrics', '/version', '/api', '/x']),
          verb: draw.pick(['get', 'post']),
        },
      };
  if (self) return make('SelfSubjectAccessReview', 'selfsubjectaccessreviews', attributes);
  const spec = { user: about.username, groups: about.groups, ...attributes };
  if (namespace !== '' && draw.chance(0.3)) {
    const path = `namespaces/${namespace}/localsubjectaccessreviews`;
    const made = make('LocalSubjectAccessReview', path, spec);
    return {
      ...made,
      request: { ...made.request, body: { ...(made.request.body as Fields), metadata: { namespace } } },
    };
  }
  return make('SubjectAccessReview', 'subjectaccessreviews', spec);
}

function resourceAttributes(draw: Draw, namespace: string): Fields {
  const [group, resource] = draw.pick(RESOURCES);
  const subresource = draw.chance(0.2) ? { subresource: draw.pick(['status', 'log', 'exec', 'scale', 'token']) } : {};
  const name = draw.chance(0.4) ? { name: draw.pick(NAMES) } : {};
  return { group, resource, verb: draw.pick(VERBS), namespace, ...subresource, ...name };
}
