import { type FieldError, validatePathSegmentName } from '@asterism/machinery';
import { required, type Strategy } from '../strategy.ts';
import { listAt } from './draft-fields.ts';

/** Of Roles and ClusterRoles. */
export const roleStrategy: Strategy = {
  validateName: validatePathSegmentName,

  validate(object) {
    const errors: FieldError[] = [];
    for (const [index, rule] of listAt(object, 'rules').entries()) {
      const at = `rules[${index}]`;
      const has = (key: string): boolean => Array.isArray(rule[key]) && rule[key].length > 0;
      if (!has('verbs')) errors.push(required(`${at}.verbs`, 'verbs must contain at least one value'));
      if (has('nonResourceURLs')) {
        if (object.kind === 'Role') {
          errors.push({
            type: 'FieldValueInvalid',
            field: `${at}.nonResourceURLs`,
            message: `Invalid value: ${JSON.stringify(rule.nonResourceURLs)}: namespaced rules cannot apply to non-resource URLs`,
          });
        }
        continue;
      }
      if (!has('apiGroups'))
        errors.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'));
      if (!has('resources'))
        errors.push(required(`${at}.resources`, 'resource rules must supply at least one resource'));
    }
    return errors;
  },
};
