import { Draw } from '../../soak/draw.ts';
import { mulberry32 } from '../../soak/mulberry32.ts';
import type { RecordedRequest } from '../../conformance/scenario.ts';
import { binding, clusterBinding, inNamespace, RBAC, RBAC_GROUP, role, rule, userSubject } from '../cases/as-user.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { type Identity, identitiesOf, namespacesOf, nodesOf } from './identities.ts';
import { NAMES, profileRules, randomRules, SIGNERS } from './random-rules.ts';

export const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const WIDGETS_PATH = '/apis/example.com/v1';

/** What both servers hold in one round, and who acts in it. */
export interface RightsWorld {
  round: number;
  namespaces: readonly [string, string];
  nodes: readonly [string, string];
  identities: readonly Identity[];
  /** Names of identities by a resource in a rule of theirs; by `*` those with a rule for every resource. */
  holders: ReadonlyMap<string, readonly string[]>;
  /** Creations by the administrator, in order. */
  objects: readonly RecordedRequest[];
  /** Names of cluster-scoped roles that requests are about. */
  clusterRoles: readonly string[];
  clusterBindings: readonly string[];
  signingRequests: readonly string[];
  requests: SigningRequests;
  /** One that a signer could have issued, PEM, base64. */
  certificate: string;
  /** Answered 200 once all of the above counts: authorizers of a real server learn of it later. */
  known: readonly RecordedRequest[];
}

/** PEM requests by the group that they ask for, base64. */
export type SigningRequests = ReadonlyMap<string, string>;

/** What of a world no seed can make. */
export interface WorldKeys {
  requests: SigningRequests;
  certificate: string;
}

export function makeWorld(seed: number, round: number, { requests, certificate }: WorldKeys): RightsWorld {
  const draw = new Draw(mulberry32(seed * 1009 + round));
  const namespaces = namespacesOf(round);
  const nodes = nodesOf(round);
  const identities = identitiesOf(round);
  const clusterRoles = [`light-${round}`, `heavy-${round}`, `sum-${round}`, `part-${round}`];
  const signingRequests = SIGNERS.flatMap((_, index) => [`csr${index}-${round}`, `done${index}-${round}`]);
  const post = (path: string, body: Fields): RecordedRequest => ({ method: 'POST', path, body });
  const holders = new Map<string, string[]>();
  const objects: RecordedRequest[] = [
    ...(round === 0 ? [post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_DEFINITION)] : []),
    ...namespaces.map((name) => post('/api/v1/namespaces', { metadata: { name } })),
    ...nodes.map((name) => post('/api/v1/nodes', { metadata: { name } })),
    ...namespaces.flatMap((namespace) => namespacedObjects(namespace, nodes, post)),
    ...clusterRoleObjects(round, post),
    ...SIGNERS.flatMap((signer, index) =>
      signingObjects(signer, [`csr${index}-${round}`, `done${index}-${round}`], requests),
    ),
    ...grants({ draw, round, identities, namespaces, holders }, post),
  ];
  return {
    round,
    namespaces,
    nodes,
    identities,
    holders,
    objects,
    clusterRoles: [...clusterRoles, 'cluster-admin'],
    clusterBindings: [`bound-${round}`, 'cluster-admin'],
    signingRequests,
    requests,
    certificate,
    known: markers(round, namespaces, nodes),
  };
}

type Post = (path: string, body: Fields) => RecordedRequest;

function namespacedObjects(namespace: string, nodes: readonly string[], post: Post): RecordedRequest[] {
  const core = (resource: string): string => `/api/v1/namespaces/${namespace}/${resource}`;
  const pod = (name: string, nodeName: string | undefined, mounts: string): RecordedRequest =>
    post(core('pods'), {
      metadata: { name, labels: { app: name } },
      spec: {
        ...(nodeName === undefined ? {} : { nodeName }),
        serviceAccountName: 'sa1',
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', secret: { secretName: mounts } }],
      },
    });
  return [
    ...['sa1', 'sa2'].map((name) => post(core('serviceaccounts'), { metadata: { name } })),
    ...NAMES.flatMap((name) => [
      post(core('secrets'), { metadata: { name, labels: { app: name } }, stringData: { k: name } }),
      post(core('configmaps'), { metadata: { name, labels: { app: name } }, data: { k: name } }),
      post(`${WIDGETS_PATH}/namespaces/${namespace}/widgets`, {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name },
        spec: { replicas: 1 },
      }),
    ]),
    pod('one', nodes[0], 'one'),
    pod('two', nodes[1], 'two'),
    pod('three', undefined, 'three'),
    post(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: 'one' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
    post(inNamespace(namespace, 'roles'), role('light', [rule([''], ['pods'], ['get'])])),
    post(inNamespace(namespace, 'roles'), role('heavy', [rule(['*'], ['*'], ['*'])])),
    post(inNamespace(namespace, 'rolebindings'), binding('Role', 'light', [userSubject('nobody')])),
    post(inNamespace(namespace, 'rolebindings'), binding('Role', 'heavy', [userSubject('nobody')])),
  ];
}

function clusterRoleObjects(round: number, post: Post): RecordedRequest[] {
  const roles = `${RBAC}/clusterroles`;
  const part = role(`part-${round}`, [rule([''], ['pods'], ['get'])], 'ClusterRole');
  return [
    post(roles, role(`light-${round}`, [rule([''], ['pods'], ['get'])], 'ClusterRole')),
    post(roles, role(`heavy-${round}`, [rule(['*'], ['*'], ['*'])], 'ClusterRole')),
    post(roles, { ...part, metadata: { name: `part-${round}`, labels: { to: `sum-${round}` } } }),
    post(roles, {
      ...role(`sum-${round}`, [rule([''], ['pods'], ['get'])], 'ClusterRole'),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: `sum-${round}` } }] },
    }),
    post(`${RBAC}/clusterrolebindings`, clusterBinding(`bound-${round}`, `light-${round}`, [userSubject('nobody')])),
  ];
}

/** One that is open, and one that is approved. */
function signingObjects(signerName: string, names: readonly string[], requests: SigningRequests): RecordedRequest[] {
  const request = requests.get('devs');
  const create = names.map((name) => ({
    method: 'POST',
    path: CSRS,
    body: { metadata: { name }, spec: { request, signerName, usages: ['client auth'] } },
  }));
  const conditions = [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }];
  const approve = {
    method: 'PATCH',
    path: `${CSRS}/${names[1]}/approval`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status: { conditions } },
  };
  return [...create, approve];
}

interface Grants {
  draw: Draw;
  round: number;
  identities: readonly Identity[];
  namespaces: readonly string[];
  holders: Map<string, string[]>;
}

/** Each ordinary identity gets up to three random roles, alone or by its group, in a namespace or in all. */
function grants({ draw, round, identities, namespaces, holders }: Grants, post: Post): RecordedRequest[] {
  const made: RecordedRequest[] = [];
  for (const [index, identity] of identities.entries()) {
    const count = identity.username.startsWith('system:') ? draw.int(0, 1) : draw.int(1, 3);
    for (let each = 0; each < count; each += 1) {
      const name = `grant-${round}-${index}-${each}`;
      const subject = subjectOf(identity, draw);
      // The first role of a user holds everywhere: most kinds that carry rights have no namespace.
      const isFirst = each === 0 && !identity.username.startsWith('system:');
      const rules = isFirst ? profileRules(draw, index + round * 5) : randomRules(draw);
      for (const { resources = [] } of rules as { resources?: string[] }[]) {
        for (const resource of resources) holders.set(resource, [...(holders.get(resource) ?? []), identity.name]);
      }
      const isUrl = rules.some((one) => 'nonResourceURLs' in one);
      const scope = isUrl || isFirst ? 2 : draw.int(0, 3);
      if (scope < 2) {
        const namespace = namespaces[scope]!;
        if (draw.chance(0.7)) made.push(post(inNamespace(namespace, 'roles'), role(name, rules)));
        else made.push(post(`${RBAC}/clusterroles`, role(name, rules, 'ClusterRole')));
        const kind = made.at(-1)!.path.endsWith('/clusterroles') ? 'ClusterRole' : 'Role';
        made.push(post(inNamespace(namespace, 'rolebindings'), binding(kind, name, [subject])));
      } else {
        made.push(post(`${RBAC}/clusterroles`, role(name, rules, 'ClusterRole')));
        made.push(post(`${RBAC}/clusterrolebindings`, clusterBinding(name, name, [subject])));
      }
    }
  }
  const marked = [rule(['marker.test'], ['things'], ['get'])];
  const marker = userSubject(`marker-${round}`);
  const [, last] = namespaces as [string, string];
  return [
    ...made,
    post(inNamespace(last, 'roles'), role('marker', marked)),
    post(inNamespace(last, 'rolebindings'), binding('Role', 'marker', [marker])),
    post(`${RBAC}/clusterroles`, role(`marker-${round}`, marked, 'ClusterRole')),
    post(
      `${RBAC}/clusterrolebindings`,
      clusterBinding(`marker-${round}`, `marker-${round}`, [userSubject(`everywhere-${round}`)]),
    ),
  ];
}

function subjectOf({ username, groups }: Identity, draw: Draw): Fields {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):(.+)$/.exec(username) ?? [];
  if (account !== undefined && draw.chance(0.7)) return { kind: 'ServiceAccount', namespace, name: account };
  const own = groups.filter((group) => !group.startsWith('system:'));
  if (own.length > 0 && draw.chance(0.3)) return { kind: 'Group', name: draw.pick(own), apiGroup: RBAC_GROUP };
  return userSubject(username);
}

function markers(round: number, namespaces: readonly string[], nodes: readonly string[]): RecordedRequest[] {
  const review = (user: string, namespace: string | undefined): RecordedRequest => ({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      spec: {
        user,
        resourceAttributes: { group: 'marker.test', resource: 'things', verb: 'get', ...(namespace && { namespace }) },
      },
    },
  });
  const [, last] = namespaces;
  return [
    review(`marker-${round}`, last),
    review(`everywhere-${round}`, undefined),
    {
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        spec: {
          user: `system:node:${nodes[1]}`,
          groups: ['system:nodes'],
          resourceAttributes: { resource: 'secrets', verb: 'get', name: 'two', namespace: last },
        },
      },
    },
  ];
}

const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
