import type { FieldError } from '@asterism/machinery';
import { invalidValue, required, type Strategy } from '../strategy.ts';
import { listAt, optionalFields, textAt } from './draft-fields.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

export const ingressStrategy: Strategy = {
  validate(object) {
    const spec = optionalFields(object, 'spec');
    const errors: FieldError[] = [];
    if (listAt(spec, 'rules').length === 0 && !optionalFields(spec, 'defaultBackend')) {
      errors.push(invalidValue('spec', spec?.rules ?? [], 'either `defaultBackend` or `rules` must be specified'));
    }
    for (const [index, rule] of listAt(spec, 'rules').entries()) {
      for (const [at, path] of listAt(optionalFields(rule, 'http'), 'paths').entries()) {
        const field = `spec.rules[${index}].http.paths[${at}]`;
        const text = textAt(path, 'path');
        if (path.pathType === undefined) errors.push(required(`${field}.pathType`, 'pathType must be specified'));
        else if (path.pathType !== 'ImplementationSpecific' && !text.startsWith('/')) {
          errors.push(invalidValue(`${field}.path`, text, 'must be an absolute path'));
        }
      }
    }
    return errors;
  },

  warnings({ metadata }) {
    if (metadata?.annotations?.[CLASS_ANNOTATION] === undefined) return [];
    return [`annotation ${JSON.stringify(CLASS_ANNOTATION)} is deprecated, please use 'spec.ingressClassName' instead`];
  },
};
