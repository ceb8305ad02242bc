import type { FieldError } from '@asterism/machinery';
import { invalidValue, type Strategy } from '../strategy.ts';
import { optionalFields, setDefaults, textAt } from './draft-fields.ts';

export const apiServiceStrategy: Strategy = {
  applyDefaults(draft) {
    const service = optionalFields(optionalFields(draft, 'spec'), 'service');
    if (service) setDefaults(service, { port: 443 });
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    const name = `${textAt(spec, 'version')}.${textAt(spec, 'group')}`;
    const errors: FieldError[] = [];
    if (object.metadata?.name !== name) {
      errors.push(
        invalidValue(
          'metadata.name',
          object.metadata?.name ?? '',
          `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`,
        ),
      );
    }
    return errors;
  },
};
