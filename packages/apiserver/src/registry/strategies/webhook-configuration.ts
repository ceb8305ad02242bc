import type { Strategy } from '../strategy.ts';
import { fieldsAt, listAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';

/** Of ValidatingWebhookConfigurations and MutatingWebhookConfigurations. */
export const webhookConfigurationStrategy: Strategy = {
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
};
