import { validatePathSegmentName } from '@asterism/machinery';
import { fieldsAt, listAt, setDefaultText } from '../fields/draft-fields.ts';
import { validateInternalImmutable } from '../validation/immutable-field.ts';
import type { Strategy } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';
import { RBAC, validateRoleRef, validateSubject } from './validation.ts';

/** Of RoleBindings and ClusterRoleBindings. */
const roleBindingStrategy: Strategy = {
  createOnUpdate: true,
  metadataChecks: 4,
  validateName: validatePathSegmentName,

  applyDefaults(draft) {
    setDefaultText(fieldsAt(draft, 'roleRef'), 'apiGroup', RBAC);
    for (const subject of listAt(draft, 'subjects')) {
      if (subject.kind === 'User' || subject.kind === 'Group') setDefaultText(subject, 'apiGroup', RBAC);
    }
  },

  validate(object) {
    const ofCluster = object.kind === 'ClusterRoleBinding';
    return [
      ...validateRoleRef(object, ofCluster ? ['ClusterRole'] : ['Role', 'ClusterRole']),
      ...listAt(object, 'subjects').flatMap((subject, index) =>
        validateSubject(subject, `subjects[${index}]`, ofCluster),
      ),
    ];
  },

  validateUpdate: (object, old) =>
    validateInternalImmutable(object, old, {
      at: '',
      key: 'roleRef',
      type: 'RoleRef',
      detail: 'cannot change roleRef',
    }),
};

export const roleBindingKinds: readonly Kind[] = [
  { groupResource: 'clusterrolebindings.rbac.authorization.k8s.io', strategy: roleBindingStrategy },
  { groupResource: 'rolebindings.rbac.authorization.k8s.io', strategy: roleBindingStrategy },
];
