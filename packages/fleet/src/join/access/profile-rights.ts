import type { Attempt } from '../preflight/check-rights.ts';
import { type Permissions, permittedNamespaces } from './permissions.ts';

/** Telling rights of a profile: those that its account has, and those that it must not have. */
export interface ProfileRights {
  included: readonly Attempt[];
  excluded: readonly Attempt[];
}

const RBAC = 'rbac.authorization.k8s.io';
/** Of many namespaces the first ones are looked at. */
const SAMPLE = 3;

const EVERYTHING: Attempt = { verb: '*', group: '*', resource: '*' };
const ROLES: readonly Attempt[] = ['escalate', 'bind'].map((verb) => ({ verb, group: RBAC, resource: 'clusterroles' }));

/** What `aster doctor` compares the rights of an account with. */
export function profileRights(permissions: Permissions): ProfileRights {
  switch (permissions.profile) {
    case 'full':
      return { included: [EVERYTHING], excluded: [] };
    case 'platform':
      return {
        included: [
          ...['get', 'list', 'watch', 'create', 'patch', 'delete'].map((verb) => ({ verb, group: '*', resource: '*' })),
          ...ROLES,
        ],
        excluded: [EVERYTHING],
      };
    case 'workloads':
      return workloadRights(permittedNamespaces(permissions).slice(0, SAMPLE));
  }
}

function workloadRights(namespaces: readonly string[]): ProfileRights {
  const inKubeSystem = { group: '', namespace: 'kube-system' };
  return {
    included: [
      { verb: 'list', group: '', resource: 'pods' },
      ...namespaces.flatMap((namespace) => [
        { verb: 'patch', group: 'apps', resource: 'deployments', namespace },
        { verb: 'create', group: '', resource: 'secrets', namespace },
      ]),
    ],
    excluded: [
      ...ROLES,
      { verb: 'create', resource: 'serviceaccounts', subresource: 'token', ...inKubeSystem },
      { verb: 'create', resource: 'pods', ...inKubeSystem },
      { verb: 'get', resource: 'secrets', ...inKubeSystem },
      { verb: 'create', group: '', resource: 'pods', subresource: 'exec', namespace: namespaces[0] ?? 'default' },
      { verb: 'impersonate', group: '', resource: 'users' },
    ],
  };
}
