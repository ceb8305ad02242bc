import { type FieldError, matchesLabels, parseLabelSelector } from '@asterism/machinery';
import { invalidValue, required, type Strategy } from '../strategy.ts';
import { fieldsAt, numberAt, optionalFields, setDefaults } from './draft-fields.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative, validateTemplate } from './validate-pod-template.ts';

export const replicationControllerStrategy: Strategy = {
  defaultPropagation: 'Orphan',
  selectableFields: {
    'status.replicas': (object) => String(numberAt(optionalFields(object, 'status'), 'replicas') ?? 0),
  },

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    setDefaults(spec, { replicas: 1 });
    const template = optionalFields(spec, 'template');
    if (!template) return;
    defaultPodTemplate(template);
    const labels = optionalFields(optionalFields(template, 'metadata'), 'labels') as Record<string, string> | undefined;
    if (!labels) return;
    if (Object.keys(optionalFields(spec, 'selector') ?? {}).length === 0) spec.selector = { ...labels };
    if (!draft.metadata.labels) draft.metadata.labels = { ...labels };
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    const selector = (spec?.selector ?? {}) as Record<string, string>;
    const template = optionalFields(spec, 'template');
    const labels = (optionalFields(template, 'metadata')?.labels ?? {}) as Record<string, string>;
    const errors: FieldError[] = validateNotNegative(spec, ['minReadySeconds']);
    if (Object.keys(selector).length === 0) errors.push(required('spec.selector'));
    errors.push(...validateNotNegative(spec, ['replicas']));
    if (!template) return [...errors, required('spec.template')];
    const requirements = parseLabelSelector(
      Object.entries(selector)
        .map((pair) => pair.join('='))
        .join(','),
    );
    if (Object.keys(selector).length > 0 && !matchesLabels(requirements, labels)) {
      errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
    }
    return [...errors, ...validateTemplate(template, ['Always'])];
  },
};
