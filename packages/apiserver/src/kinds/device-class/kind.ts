import type { FieldError, KubeObject } from '@asterism/machinery';
import { listAt, optionalFields } from '../fields/draft-fields.ts';
import { isExtendedResource } from '../pod-spec/resource-names.ts';
import { validateDeviceConfiguration, validateList, validateSelectors } from '../device/validate-device-claim.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

const MAX_CONFIGS = 32;

export const deviceClassKind: Kind = {
  groupResource: 'deviceclasses.resource.k8s.io',
  strategy: {
    generation: 'spec',
    returnsDeleted: true,
    metadataChecks: 4,
    validate: validateClass,
  },
};

function validateClass(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const faults = [
    ...validateSelectors(listAt(spec, 'selectors'), 'spec.selectors'),
    ...validateList(listAt(spec, 'config'), 'spec.config', MAX_CONFIGS, validateDeviceConfiguration),
  ];
  const name = spec.extendedResourceName;
  if (typeof name === 'string' && !isExtendedResource(name))
    faults.push(invalidValue('spec.extendedResourceName', name, 'must be a valid extended resource name'));
  return faults;
}
