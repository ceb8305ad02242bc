import {
  fieldsAt,
  listAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
  textsAt,
} from '../fields/draft-fields.ts';
import type { Strategy } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';
import { loadConditionRules } from './condition-rules.ts';
import { REVIEW_VERSIONS, SIDE_EFFECTS, validateWebhooks } from './validation.ts';

/** Of ValidatingWebhookConfigurations and MutatingWebhookConfigurations. */
const webhookConfigurationStrategy: Strategy = {
  generation: 'spec',
  requiresResourceVersion: true,
  configuresAdmission: true,
  allowsAnyFinalizer: true,

  applyDefaults(draft) {
    for (const webhook of listAt(draft, 'webhooks')) {
      setDefaultText(webhook, 'failurePolicy', 'Fail');
      setDefaultText(webhook, 'matchPolicy', 'Equivalent');
      fieldsAt(webhook, 'namespaceSelector');
      fieldsAt(webhook, 'objectSelector');
      setDefaults(webhook, { timeoutSeconds: 10 });
      if (draft.kind === 'MutatingWebhookConfiguration') setDefaultText(webhook, 'reinvocationPolicy', 'Never');
      const service = optionalFields(optionalFields(webhook, 'clientConfig'), 'service');
      if (service) setDefaults(service, { port: 443 });
      for (const rule of listAt(webhook, 'rules')) setDefaultText(rule, 'scope', '*');
    }
  },

  loadRules: loadConditionRules,

  validateCreate: (object) => validateWebhooks(object, { sideEffects: false, reviewVersions: false, sameNames: false }),

  validateUpdate(object, old) {
    const before = listAt(old, 'webhooks');
    const names = before.map((webhook) => textAt(webhook, 'name'));
    return validateWebhooks(object, {
      sideEffects: !before.every((webhook) => SIDE_EFFECTS.includes(textAt(webhook, 'sideEffects'))),
      reviewVersions: !before.every((webhook) => knowsAnyVersion(textsAt(webhook, 'admissionReviewVersions'))),
      sameNames: new Set(names).size < names.length,
    });
  },
};

export const webhookConfigurationKinds: readonly Kind[] = [
  {
    groupResource: 'mutatingwebhookconfigurations.admissionregistration.k8s.io',
    strategy: webhookConfigurationStrategy,
  },
  {
    groupResource: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
    strategy: webhookConfigurationStrategy,
  },
];

function knowsAnyVersion(versions: readonly string[]): boolean {
  return versions.length === 0 || versions.some((version) => REVIEW_VERSIONS.includes(version));
}
