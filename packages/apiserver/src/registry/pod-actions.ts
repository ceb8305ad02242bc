import {
  badRequest,
  conflict,
  failure,
  type KubeObject,
  type LabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  notFound,
  type Status,
} from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import { unexpected } from './decode-object.ts';
import type { ObjectDeleter } from './object-deleter.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { DeleteOptions, WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';

interface PodBody extends KubeObject {
  spec?: { nodeName?: string };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

interface Budget extends KubeObject {
  spec?: { selector?: LabelSelector };
  status?: {
    disruptionsAllowed?: number;
    observedGeneration?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptedPods?: Record<string, string>;
  };
}

export interface PodActionsOptions {
  pods: ServedVersion;
  budgets: ServedVersion;
  store: ObjectStore;
  writer: ObjectWriter;
  deleter: ObjectDeleter;
}

const UNTRACKED_STATUS = { subresource: 'status', fieldManager: undefined };

/** What one does to a pod by creating something below it: binding it to a node, evicting it. */
export class PodActions {
  readonly #options: PodActionsOptions;

  constructor(options: PodActionsOptions) {
    this.#options = options;
  }

  /** The scheduler's verb: gives an unscheduled pod its node, once. */
  async bind(body: KubeObject, context: WriteContext): Promise<Status> {
    const { pods, writer } = this.#options;
    const name = context.name ?? body.metadata?.name ?? '';
    const target = (body.target as { kind?: string; name?: string } | undefined) ?? {};
    if (target.kind && target.kind !== 'Node') throw badRequest(`invalid target kind ${target.kind}: must be Node`);
    if (!target.name) throw badRequest('target.name: Required value');
    const scheduled = { type: 'PodScheduled', status: 'True' };
    const ref = { namespace: context.namespace, name };
    await writer.rewrite(pods, ref, { ...context, subresource: 'binding' }, (old: PodBody) => {
      if (old.metadata?.deletionTimestamp) {
        throw bindingConflict(name, `pod ${name} is being deleted, cannot be assigned to a host`);
      }
      if (old.spec?.nodeName) {
        throw bindingConflict(name, `pod ${name} is already assigned to node "${old.spec.nodeName}"`);
      }
      const others = (old.status?.conditions ?? []).filter(({ type }) => type !== scheduled.type);
      return {
        ...old,
        metadata: { ...old.metadata, annotations: { ...old.metadata?.annotations, ...body.metadata?.annotations } },
        spec: { ...old.spec, nodeName: target.name },
        status: { ...old.status, conditions: [...others, scheduled] },
      };
    });
    return created();
  }

  /** Deletes a pod unless its PodDisruptionBudget forbids it (429). */
  async evict(body: KubeObject, context: WriteContext): Promise<Status> {
    const { pods, store, deleter } = this.#options;
    const name = context.name ?? '';
    if (body.metadata?.name !== name) throw badRequest('name in URL does not match name in Eviction object');
    const pod = store.get('pods', context.namespace, name)?.parse() as PodBody | undefined;
    if (!pod) throw notFound(pods.type, name);
    if (needsBudget(pod)) await this.#spendBudget(pod, context);
    const options = (body.deleteOptions as DeleteOptions | undefined) ?? {};
    const { subresource: _, ...rest } = context;
    await this.#markDisrupted(name, context);
    await deleter.delete(pods, { namespace: context.namespace, name }, options, rest);
    return created();
  }

  /** A pod that is evicted says so (KEP-3329). */
  async #markDisrupted(name: string, context: WriteContext): Promise<void> {
    const { pods, writer } = this.#options;
    const ref = { namespace: context.namespace, name };
    const { now } = writer.times();
    await writer.rewrite(pods, ref, { ...context, ...UNTRACKED_STATUS }, (old: PodBody) => {
      const others = (old.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: now,
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      };
      return { ...old, status: { ...old.status, conditions: [...others, condition] } };
    });
  }

  async #spendBudget(pod: PodBody, context: WriteContext): Promise<void> {
    const { budgets, store, writer } = this.#options;
    const { namespace = '', name = '', labels } = pod.metadata ?? {};
    const prefix = `${namespace}/`;
    const matching = [...store.cache(budgets.groupResource).entries(prefix, prefix)]
      .map(([, stored]) => stored.parse() as Budget)
      .filter(({ spec }) => spec?.selector && matchesLabels(labelSelectorFromObject(spec.selector), labels));
    if (matching.length > 1) {
      throw unexpected(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      );
    }
    const budget = matching[0];
    if (!budget) return;
    requireDisruptionAllowed(budget);
    const ref = { namespace, name: budget.metadata?.name ?? '' };
    const { now } = writer.times();
    await writer.rewrite(budgets, ref, { ...context, ...UNTRACKED_STATUS }, (old) => {
      const status = (old as Budget).status ?? {};
      requireDisruptionAllowed(old as Budget);
      return {
        ...old,
        status: {
          ...status,
          disruptionsAllowed: (status.disruptionsAllowed ?? 0) - 1,
          disruptedPods: { ...status.disruptedPods, [name]: now },
        },
      };
    });
  }
}

/** Pods that serve nobody are evicted whatever the budget says. */
function needsBudget({ metadata, status }: PodBody): boolean {
  return !metadata?.deletionTimestamp && !['Pending', 'Succeeded', 'Failed'].includes(status?.phase ?? '');
}

function requireDisruptionAllowed({ metadata, status = {} }: Budget): void {
  if ((status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) {
    const message = `The disruption budget ${metadata?.name} is still being processed by the server.`;
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", message, 10);
  }
  if ((status.disruptionsAllowed ?? 0) > 0) return;
  const message = `The disruption budget ${metadata?.name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`;
  throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", message);
}

function tooManyRequests(message: string, cause: string, retryAfterSeconds?: number): Error {
  return failure(429, message, {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
    },
  });
}

function bindingConflict(name: string, why: string): Error {
  return conflict({ group: '', resource: 'pods/binding' }, name, why);
}

/** The answer of both actions, with its code as upstream has it here alone. */
function created(): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}
