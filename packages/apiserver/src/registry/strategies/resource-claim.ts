import type { Strategy } from '../strategy.ts';
import { type Fields, listAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';

export const resourceClaimStrategy: Strategy = {
  applyDefaults: (draft) => defaultClaimSpec(optionalFields(draft, 'spec')),
  validateUpdate: (object, old) => validateImmutable(object, old, '', ['spec']),
};

export const resourceClaimTemplateStrategy: Strategy = {
  applyDefaults: (draft) => defaultClaimSpec(optionalFields(optionalFields(draft, 'spec'), 'spec')),
};

function defaultClaimSpec(spec: Fields | undefined): void {
  for (const request of listAt(optionalFields(spec, 'devices'), 'requests')) {
    const exactly = optionalFields(request, 'exactly');
    for (const one of [...(exactly ? [exactly] : []), ...listAt(request, 'firstAvailable')]) {
      setDefaultText(one, 'allocationMode', 'ExactCount');
      if (one.allocationMode === 'ExactCount') setDefaults(one, { count: 1 });
      for (const toleration of listAt(one, 'tolerations')) setDefaultText(toleration, 'operator', 'Equal');
    }
  }
}
