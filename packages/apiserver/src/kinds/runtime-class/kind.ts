import {
  type FieldError,
  type KubeObject,
  type ResourceRequirements,
  validateDns1123Label,
  validateLabels,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { validateResources } from '../pod-spec/validate-resources.ts';
import { validateTolerations } from '../pod-spec/validate-scheduling.ts';
import { labelDeprecation } from '../pod-spec/deprecated-labels.ts';
import { internalForm } from '../validation/internal-form.ts';
import { validateContainerResourceName } from '../pod-spec/resource-names.ts';
import { duplicateValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

export const runtimeClassKind: Kind = {
  groupResource: 'runtimeclasses.node.k8s.io',
  strategy: {
    createOnUpdate: true,
    requiresResourceVersion: true,
    metadataChecks: 4,

    applyDefaults(draft) {
      for (const toleration of listAt(optionalFields(draft, 'scheduling'), 'tolerations')) {
        if (toleration.operator === '') delete toleration.operator;
      }
    },

    validate: validateClass,
    validateUpdate: (object, old) => validateImmutable(object, old, '', ['handler']),

    warnings: (object) =>
      Object.keys(optionalFields(optionalFields(object, 'scheduling'), 'nodeSelector') ?? {}).flatMap((label) => {
        const text = labelDeprecation(label);
        return text ? [`scheduling.nodeSelector: ${text}`] : [];
      }),
  },
};

function validateClass(object: KubeObject): FieldError[] {
  const handler = textAt(object, 'handler');
  const faults = new Faults();
  faults.addAll(invalidValues('handler', handler, validateDns1123Label(handler)));
  const overhead = optionalFields(object, 'overhead');
  if (overhead) {
    const limits = optionalFields(overhead, 'podFixed') ?? {};
    const rules = { validateName: validateContainerResourceName, claimNames: new Set<string>() };
    validateResources({ limits } as ResourceRequirements, FieldPath.of('overhead'), rules, faults);
  }
  const scheduling = optionalFields(object, 'scheduling');
  if (scheduling) validateScheduling(scheduling, faults);
  return faults.found;
}

function validateScheduling(scheduling: Fields, faults: Faults): void {
  const selector = optionalFields(scheduling, 'nodeSelector');
  if (selector) faults.addAll(validateLabels(selector as Record<string, string>, 'scheduling.nodeSelector'));
  const tolerations = listAt(scheduling, 'tolerations');
  const at = FieldPath.of('scheduling').child('tolerations');
  validateTolerations(tolerations as never, at, faults);
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    // For how long one tolerates does not make it another.
    const key = ['key', 'operator', 'value', 'effect'].map((field) => textAt(toleration, field)).join('\n');
    const form = internalForm('Toleration', toleration);
    if (seen.has(key)) faults.add(duplicateValue(at.index(index).toString(), form));
    seen.add(key);
  }
}
