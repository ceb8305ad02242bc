import type { Authorizer } from '../contract/authorizer.ts';
import { deepEqual, isStatusError, type KubeObject, StatusError } from '@asterism/machinery';
import type { ServedVersion } from '../registry/served-version.ts';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';
import type { ReviewAnswer } from './admission-review.ts';
import { callWebhook } from './call-webhook.ts';
import { convertObject } from './convert-object.ts';
import { type Invocation, matchWebhook, type Surroundings } from './match-webhook.ts';
import { meetsConditions } from './meet-conditions.ts';
import { MutationRounds } from './mutation-rounds.ts';
import { createServiceResolver, type ServiceResolverOptions } from './resolve-service.ts';
import { WebhookClient } from './webhook-client.ts';
import { type Webhook, WebhookConfigurations } from './webhook-configurations.ts';
import { internalError, requestTimedOut, WebhookFailure } from './webhook-failure.ts';
import type { WebhookCall, WebhookMetrics } from './webhook-metrics.ts';
import { applyWebhookPatch, readPatch } from './webhook-patch.ts';

export interface AdmissionWebhooksOptions extends Surroundings {
  /** For match conditions; without it nobody may do anything. */
  authorizer: () => Authorizer | undefined;
  /** Where Services are, where this server knows it better than by what is stored. */
  resolve?: ServiceResolverOptions['resolve'];
  metrics?: WebhookMetrics | undefined;
  /** Told where a webhook could not be asked and its policy lets the request pass. */
  onIgnored?: ((error: WebhookFailure) => void) | undefined;
  /** An object that a webhook changed, as its kind wants it: decoded, and with its defaults. */
  settle: (resource: ServedVersion, object: KubeObject, kind: AdmissionAttributes['kind']) => KubeObject;
  /** Ends calls that are under way. */
  stopped: AbortSignal;
}

type ObjectPair = { object: KubeObject | undefined; oldObject: KubeObject | undefined };

/** Asks the webhooks that are configured, as upstream's MutatingAdmissionWebhook and ValidatingAdmissionWebhook. */
export class AdmissionWebhooks {
  readonly #options: AdmissionWebhooksOptions;
  readonly #configurations: WebhookConfigurations;
  readonly #client: WebhookClient;

  constructor(options: AdmissionWebhooksOptions) {
    this.#options = options;
    this.#configurations = new WebhookConfigurations(options.store);
    this.#client = new WebhookClient(createServiceResolver(options));
    options.stopped.addEventListener('abort', () => this.#client.close(), { once: true });
  }

  /**
   * Resolves with the object as the mutating webhooks want it, one asked after the other. Where one of them changed something,
   * `replay` has what else may change it run again, and those that want it are asked a second time.
   */
  async mutate(
    request: AdmissionAttributes,
    replay: (object: KubeObject | undefined) => Promise<KubeObject | undefined>,
  ): Promise<KubeObject | undefined> {
    if (request.resource.strategy.configuresAdmission) return request.object;
    const webhooks = this.#configurations.mutating();
    const rounds = new MutationRounds();
    const first = await this.#mutateOnce(request, webhooks, rounds);
    if (!rounds.shouldReplay) return first;
    const replayed = await replay(first);
    rounds.beginSecond(!deepEqual(first, replayed));
    return await this.#mutateOnce({ ...request, object: replayed }, webhooks, rounds);
  }

  /** Rejects where one of the validating webhooks refuses. They are asked all at once. */
  async validate(request: AdmissionAttributes): Promise<void> {
    if (request.resource.strategy.configuresAdmission) return;
    const invocations: Invocation[] = [];
    for (const webhook of this.#configurations.validating()) {
      const invocation = await this.#match(webhook, request);
      if (invocation) invocations.push(invocation);
    }
    const outcomes = await Promise.allSettled(invocations.map((each) => this.#call(each, request)));
    const refused = outcomes.find((each) => each.status === 'rejected');
    if (refused) throw refused.reason;
  }

  async #mutateOnce(
    request: AdmissionAttributes,
    webhooks: readonly Webhook[],
    rounds: MutationRounds,
  ): Promise<KubeObject | undefined> {
    let current = request;
    for (const [index, webhook] of webhooks.entries()) {
      const invocation = await this.#match(webhook, current);
      if (!invocation || !rounds.isDue(webhook)) continue;
      const object = await this.#mutateBy(invocation, current, { round: rounds.number, index });
      const isChanged = object !== current.object;
      rounds.asked(webhook, isChanged);
      if (isChanged) current = { ...current, object };
    }
    return current.object;
  }

  /** The object as one webhook wants it: the same one where it changes nothing. */
  async #mutateBy(
    invocation: Invocation,
    request: AdmissionAttributes,
    at: { round: number; index: number },
  ): Promise<KubeObject | undefined> {
    const { webhook } = invocation;
    const place = `round_${at.round}_index_${at.index}`;
    const about = { configuration: webhook.configuration, webhook: webhook.name };
    let object = request.object;
    try {
      const answer = await this.#call(invocation, request, (given) => {
        object = this.#patched(invocation, request, given, (operations) => {
          const patch = JSON.stringify({ ...about, patch: operations, patchType: 'JSONPatch' });
          request.annotate(`patch.webhook.admission.k8s.io/${place}`, patch);
        });
      });
      if (answer === undefined) {
        request.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, webhook.name);
      }
    } finally {
      const mutated = object !== request.object;
      request.annotate(`mutation.webhook.admission.k8s.io/${place}`, JSON.stringify({ ...about, mutated }));
    }
    return object;
  }

  #patched(
    { webhook, resource, kind }: Invocation,
    request: AdmissionAttributes,
    { patch, patchType }: ReviewAnswer,
    onPatch: (operations: unknown) => void,
  ): KubeObject | undefined {
    const { object } = request;
    if (patch === '') return object;
    let operations;
    try {
      operations = readPatch(patch);
    } catch (error) {
      const why = `received undecodable patch in webhook response: ${(error as Error).message}`;
      throw new WebhookFailure(webhook.name, why);
    }
    if (operations.length === 0) return object;
    if (object === undefined) {
      const why = `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`;
      throw internalError(why);
    }
    if (patchType !== 'JSONPatch') {
      throw new WebhookFailure(webhook.name, `unsupported patch type ${JSON.stringify(patchType)}`);
    }
    const shown = convertObject(object, request.resource, resource, request.subresource);
    const settled = this.#settle(resource, applyWebhookPatch(shown, operations), kind);
    onPatch(operations);
    if (deepEqual(settled, shown)) return object;
    return convertObject(settled, resource, request.resource, request.subresource);
  }

  #settle(resource: ServedVersion, object: KubeObject, kind: AdmissionAttributes['kind']): KubeObject {
    try {
      return this.#options.settle(resource, object, kind);
    } catch (error) {
      if (isStatusError(error)) throw error;
      throw new StatusError(internalError((error as Error).message).status, { cause: error });
    }
  }

  /** Resolves with undefined where the webhook is not to be asked. */
  async #match(webhook: Webhook, request: AdmissionAttributes): Promise<Invocation | undefined> {
    const { metrics, authorizer } = this.#options;
    const invocation = matchWebhook(webhook, request, this.#options);
    if (!invocation || webhook.matchConditions.length === 0) return invocation;
    const isMet = await meetsConditions(invocation, request, {
      objects: objectsFor(invocation, request),
      authorizer: authorizer(),
      onFault: () => metrics?.matchConditionFailed(callOf(webhook, request)),
    });
    if (!isMet) metrics?.matchConditionExcluded(callOf(webhook, request));
    return isMet ? invocation : undefined;
  }

  /**
   * Resolves with undefined where the webhook could not be asked and does not mind. `use` is part of the call: what it finds
   * wrong with the answer counts as the webhook's failure.
   */
  async #call(
    invocation: Invocation,
    request: AdmissionAttributes,
    use: (answer: ReviewAnswer) => void = () => {},
  ): Promise<ReviewAnswer | undefined> {
    const { stopped } = this.#options;
    const started = performance.now();
    const { webhook } = invocation;
    const ended = (outcome: CallOutcome): void => this.#record(webhook, request, started, outcome);
    try {
      const objects = objectsFor(invocation, request);
      const answer = await callWebhook(this.#client, invocation, request, { objects, stopped });
      use(answer);
      ended({ code: 200 });
      return answer;
    } catch (error) {
      if (!(error instanceof WebhookFailure)) {
        const isDenial = isStatusError(error) && error.code < 500;
        ended({ code: isDenial ? error.code : 0, error: isDenial ? 'no_error' : 'apiserver_internal_error' });
        throw error;
      }
      ended({ code: error.code, ...(webhook.ignoresFailure ? {} : { error: 'calling_webhook_error' }) });
      if (!webhook.ignoresFailure) throw new StatusError(internalError(error.message).status, { cause: error });
      if (error.isCanceled) throw requestTimedOut();
      this.#options.metrics?.webhookFailedOpen(webhook);
      this.#options.onIgnored?.(error);
      return undefined;
    }
  }

  #record(webhook: Webhook, request: AdmissionAttributes, started: number, { code, error }: CallOutcome): void {
    const { metrics } = this.#options;
    if (metrics === undefined) return;
    const call = callOf(webhook, request);
    if (error) metrics.webhookRejected(call, error, code);
    metrics.webhookCalled(call, { code, rejected: error !== undefined, seconds: (performance.now() - started) / 1000 });
  }
}

interface CallOutcome {
  code: number;
  /** Undefined where the request was not refused. */
  error?: Parameters<WebhookMetrics['webhookRejected']>[1];
}

function callOf({ name, type }: Webhook, { operation }: AdmissionAttributes): WebhookCall {
  return { name, type, operation };
}

/** The objects of a request in the version that a webhook wants. */
function objectsFor({ resource }: Invocation, request: AdmissionAttributes): ObjectPair {
  const { object, oldObject, subresource } = request;
  const show = (each: KubeObject | undefined): KubeObject | undefined =>
    each && convertObject(each, request.resource, resource, subresource);
  return { object: show(object), oldObject: show(oldObject) };
}
