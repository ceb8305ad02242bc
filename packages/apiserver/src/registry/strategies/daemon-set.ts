import { deepEqual } from '@asterism/machinery';
import type { Draft, Strategy } from '../strategy.ts';
import { fieldsAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative, validateSelectedTemplate } from './validate-pod-template.ts';

/** Counts the templates; its field went with extensions/v1beta1, its annotation stayed. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function setTemplateGeneration({ metadata }: Draft, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

export const daemonSetStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    defaultPodTemplate(fieldsAt(spec, 'template'));
    const updateStrategy = fieldsAt(spec, 'updateStrategy');
    setDefaultText(updateStrategy, 'type', 'RollingUpdate');
    if (updateStrategy.type === 'RollingUpdate') {
      setDefaults(fieldsAt(updateStrategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
    }
    setDefaults(spec, { revisionHistoryLimit: 10 });
    if (!draft.metadata.annotations?.[TEMPLATE_GENERATION]) setTemplateGeneration(draft, 1);
  },

  prepareForUpdate(draft, old) {
    const before = Number(old.metadata?.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const changed = !deepEqual(optionalFields(draft, 'spec')?.template, optionalFields(old, 'spec')?.template);
    setTemplateGeneration(draft, changed ? before + 1 : before);
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    return [
      ...validateSelectedTemplate(spec, { kind: 'daemonset', restartPolicies: ['Always'] }),
      ...validateNotNegative(spec, ['minReadySeconds', 'revisionHistoryLimit']),
    ];
  },

  validateUpdate: (object, old) =>
    validateImmutable(optionalFields(object, 'spec'), optionalFields(old, 'spec'), 'spec', ['selector']),
};
