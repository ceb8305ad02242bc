import { type FieldError, validatePathSegmentName } from '@asterism/machinery';
import { notSupported, required, type Strategy } from '../strategy.ts';
import { fieldsAt, listAt, optionalFields, setDefaultText, textAt } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Of RoleBindings and ClusterRoleBindings. */
export const roleBindingStrategy: Strategy = {
  validateName: validatePathSegmentName,

  applyDefaults(draft) {
    setDefaultText(fieldsAt(draft, 'roleRef'), 'apiGroup', RBAC);
    for (const subject of listAt(draft, 'subjects')) {
      if (subject.kind === 'User' || subject.kind === 'Group') setDefaultText(subject, 'apiGroup', RBAC);
    }
  },

  validate(object) {
    const roleRef = optionalFields(object, 'roleRef');
    const errors: FieldError[] = [];
    const kinds = object.kind === 'ClusterRoleBinding' ? ['ClusterRole'] : ['Role', 'ClusterRole'];
    if (roleRef?.apiGroup !== RBAC) errors.push(notSupported('roleRef.apiGroup', roleRef?.apiGroup, [RBAC]));
    if (!kinds.includes(textAt(roleRef, 'kind')))
      errors.push(notSupported('roleRef.kind', textAt(roleRef, 'kind'), kinds));
    if (textAt(roleRef, 'name') === '') errors.push(required('roleRef.name'));
    for (const [index, subject] of listAt(object, 'subjects').entries()) {
      const at = `subjects[${index}]`;
      const kind = textAt(subject, 'kind');
      if (textAt(subject, 'name') === '') errors.push(required(`${at}.name`));
      if (kind === 'ServiceAccount') {
        if (object.kind === 'ClusterRoleBinding' && textAt(subject, 'namespace') === '')
          errors.push(required(`${at}.namespace`));
        if (textAt(subject, 'apiGroup') !== '') errors.push(notSupported(`${at}.apiGroup`, subject.apiGroup, ['']));
      } else if (kind === 'User' || kind === 'Group') {
        if (subject.apiGroup !== RBAC) errors.push(notSupported(`${at}.apiGroup`, subject.apiGroup, [RBAC]));
      } else errors.push(notSupported(`${at}.kind`, kind, ['Group', 'ServiceAccount', 'User']));
    }
    return errors;
  },

  validateUpdate(object, old) {
    return validateImmutable(object, old, '', ['roleRef']).map((error) => ({
      ...error,
      message: error.message.replace('field is immutable', 'cannot change roleRef'),
    }));
  },
};
