import type { Strategy } from '../strategy.ts';
import { fieldsAt } from './draft-fields.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';

export const podTemplateStrategy: Strategy = {
  applyDefaults: (draft) => defaultPodTemplate(fieldsAt(draft, 'template')),
};
