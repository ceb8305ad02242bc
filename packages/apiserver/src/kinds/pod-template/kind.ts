import type { PodTemplateSpec } from '@asterism/machinery';
import { templateWarnings } from '../workload/validate-workload.ts';
import { fieldsAt, optionalFields } from '../fields/draft-fields.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validatePodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Kind } from '../../contract/kind.ts';
import { collectFaults } from '../validation/faults.ts';

const TEMPLATE = FieldPath.of('template');

export const podTemplateKind: Kind = {
  groupResource: 'podtemplates',
  strategy: {
    generation: 'spec',
    returnsDeleted: true,
    applyDefaults: (draft) => defaultPodTemplate(fieldsAt(draft, 'template')),
    validate: (object) =>
      collectFaults((faults) =>
        validatePodTemplate((optionalFields(object, 'template') ?? {}) as PodTemplateSpec, TEMPLATE, faults),
      ),

    warnings(object, old) {
      if (old && object.metadata?.generation === old.metadata?.generation) return [];
      return templateWarnings(optionalFields(object, 'template'), TEMPLATE);
    },
  },
};
