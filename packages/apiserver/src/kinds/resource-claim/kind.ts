import { type Fields, listAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { validateInternalImmutable } from '../validation/immutable-field.ts';
import { validateClaimSpec, validateTemplateMetadata } from '../device/validate-device-claim.ts';
import type { Strategy } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

const resourceClaimStrategy: Strategy = {
  returnsDeleted: true,
  metadataChecks: 4,
  resetFields: { status: [['spec'], ['metadata']] },
  applyDefaults: (draft) => defaultClaimSpec(optionalFields(draft, 'spec')),
  validate: (object) => validateClaimSpec(optionalFields(object, 'spec') ?? {}, 'spec'),
  validateUpdate: (object, old) =>
    validateInternalImmutable(object, old, { at: '', key: 'spec', type: 'ResourceClaimSpec' }),
  validateStatus: () => [],
};

const resourceClaimTemplateStrategy: Strategy = {
  returnsDeleted: true,
  metadataChecks: 4,
  applyDefaults: (draft) => defaultClaimSpec(optionalFields(optionalFields(draft, 'spec'), 'spec')),

  validate(object) {
    const spec = optionalFields(object, 'spec') ?? {};
    return [
      ...validateTemplateMetadata(optionalFields(spec, 'metadata') ?? {}, 'spec.metadata'),
      ...validateClaimSpec(optionalFields(spec, 'spec') ?? {}, 'spec.spec'),
    ];
  },
  validateUpdate: (object, old) =>
    validateInternalImmutable(object, old, { at: '', key: 'spec', type: 'ResourceClaimTemplateSpec' }),
};

export const resourceClaimKinds: readonly Kind[] = [
  { groupResource: 'resourceclaims.resource.k8s.io', strategy: resourceClaimStrategy },
  { groupResource: 'resourceclaimtemplates.resource.k8s.io', strategy: resourceClaimTemplateStrategy },
];

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
