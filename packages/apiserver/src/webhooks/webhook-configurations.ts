import {
  type KubeObject,
  type LabelRequirement,
  type LabelSelector,
  labelSelectorFromObject,
  type MatchCondition,
  type MutatingWebhook,
  type RuleWithOperations,
} from '@asterism/machinery';
import type { CompiledConditions } from '../cel/match-conditions.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export const MUTATING_CONFIGURATIONS = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
export const VALIDATING_CONFIGURATIONS = 'validatingwebhookconfigurations.admissionregistration.k8s.io';

/** Upstream's names of the two ways to be called, in metrics and in the audit log. */
export type WebhookType = 'admit' | 'validating';

/** One webhook of one configuration, read. */
export interface Webhook {
  type: WebhookType;
  configuration: string;
  /** Its own name: `x.example.com`. */
  name: string;
  /** Tells it from all others, also of the same name. */
  id: string;
  rules: readonly RuleWithOperations[];
  namespaceSelector: readonly LabelRequirement[];
  objectSelector: readonly LabelRequirement[];
  matchEquivalent: boolean;
  matchConditions: readonly MatchCondition[];
  /** Of the conditions; set by who first needs it, as it loads the evaluator. */
  compiled: CompiledConditions | undefined;
  /** A failure to ask it is no refusal. */
  ignoresFailure: boolean;
  reinvoked: boolean;
  sideEffects: string | undefined;
  timeoutSeconds: number;
  client: MutatingWebhook['clientConfig'];
  reviewVersions: readonly string[];
}

/** The webhooks of all configurations as they are stored now: by the names of these, each read once. */
export class WebhookConfigurations {
  readonly #store: ObjectStore;
  readonly #read = new WeakMap<StoredObject, readonly Webhook[]>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  mutating(): Webhook[] {
    return this.#all(MUTATING_CONFIGURATIONS, 'admit');
  }

  validating(): Webhook[] {
    return this.#all(VALIDATING_CONFIGURATIONS, 'validating');
  }

  #all(groupResource: string, type: WebhookType): Webhook[] {
    const webhooks: Webhook[] = [];
    for (const [, stored] of this.#store.cache(groupResource).entries('', '')) {
      let read = this.#read.get(stored);
      if (!read) this.#read.set(stored, (read = readConfiguration(stored.parse(), type)));
      webhooks.push(...read);
    }
    return webhooks;
  }
}

function readConfiguration(object: KubeObject, type: WebhookType): Webhook[] {
  const { webhooks = [] } = object as { webhooks?: readonly MutatingWebhook[] };
  const configuration = object.metadata?.name ?? '';
  const seen = new Map<string, number>();
  return webhooks.map((webhook) => {
    const { name } = webhook;
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return {
      type,
      configuration,
      name,
      id: `${configuration}/${name}/${count}`,
      rules: webhook.rules ?? [],
      namespaceSelector: requirementsOf(webhook.namespaceSelector),
      objectSelector: requirementsOf(webhook.objectSelector),
      matchEquivalent: webhook.matchPolicy === 'Equivalent',
      matchConditions: webhook.matchConditions ?? [],
      compiled: undefined,
      ignoresFailure: webhook.failurePolicy === 'Ignore',
      reinvoked: webhook.reinvocationPolicy === 'IfNeeded',
      sideEffects: webhook.sideEffects,
      timeoutSeconds: webhook.timeoutSeconds ?? 10,
      client: webhook.clientConfig,
      reviewVersions: webhook.admissionReviewVersions,
    };
  });
}

function requirementsOf(selector: LabelSelector | undefined): readonly LabelRequirement[] {
  return selector ? labelSelectorFromObject(selector) : [];
}
