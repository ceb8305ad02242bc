import {
  badRequest,
  conflict,
  failure,
  forbidden,
  type GroupVersionKind,
  type KubeObject,
  type LabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  notFound,
  type Status,
} from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { AdmissionPipeline } from './admission-pipeline.ts';
import { unexpected } from './decode-object.ts';
import { formatTime } from './metadata.ts';
import type { ObjectDeleter } from './object-deleter.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { DeleteOptions } from '../contract/delete-options.ts';
import { WriteRequest } from './write.ts';

interface PodBody extends KubeObject {
  spec?: { nodeName?: string; schedulingGates?: readonly object[] };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

interface Budget extends KubeObject {
  spec?: { selector?: LabelSelector; unhealthyPodEvictionPolicy?: string };
  status?: {
    disruptionsAllowed?: number;
    observedGeneration?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptedPods?: Record<string, string>;
    conditions?: { type: string; status: string; reason: string; message?: string }[];
  };
}

export interface PodActionsOptions {
  pods: ServedVersion;
  budgets: ServedVersion;
  store: ObjectStore;
  writer: ObjectWriter;
  deleter: ObjectDeleter;
  admission: AdmissionPipeline;
  /** Milliseconds since 1970. */
  clock: () => number;
}

const BINDING: GroupVersionKind = { group: '', version: 'v1', kind: 'Binding' };
const EVICTION: GroupVersionKind = { group: 'policy', version: 'v1', kind: 'Eviction' };
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";
const NEGATIVE = 'pdb disruptions allowed is negative';
const UNTRACKED_STATUS = { subresource: 'status', fieldManager: undefined };
/** Budgets are spent by the server itself, whoever evicts. */
const OWN_STATUS = { subresource: 'status', fieldManager: 'kube-apiserver' };

/** What one does to a pod by creating something below it: binding it to a node, evicting it. */
export class PodActions {
  readonly #options: PodActionsOptions;

  constructor(options: PodActionsOptions) {
    this.#options = options;
  }

  /** The scheduler's verb: gives an unscheduled pod its node, once. */
  async bind(binding: KubeObject, asked: WriteContext): Promise<Status> {
    const { pods, writer } = this.#options;
    const name = asked.name ?? binding.metadata?.name ?? '';
    const body = await this.#admit(binding, name, { ...asked, subresource: 'binding' }, BINDING);
    const context = { ...asked, internal: true };
    const target = (body.target as { kind?: string; name?: string } | undefined) ?? {};
    if (body.metadata?.name !== name) throw badRequest('name in URL does not match name in Binding object');
    requireTarget(target);
    const now = this.#now();
    const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
    const ref = { namespace: context.namespace, name };
    const binds = new WriteRequest(pods, ref, { ...context, subresource: 'binding' });
    await writer.rewrite(binds, (old: PodBody) => {
      if (old.metadata?.deletionTimestamp) {
        throw bindingConflict(name, `pod ${name} is being deleted, cannot be assigned to a host`);
      }
      if (old.spec?.nodeName) {
        throw bindingConflict(name, `pod ${name} is already assigned to node "${old.spec.nodeName}"`);
      }
      if (old.spec?.schedulingGates?.length) {
        throw bindingConflict(name, `pod ${name} has non-empty .spec.schedulingGates`);
      }
      const others = (old.status?.conditions ?? []).filter(({ type }) => type !== scheduled.type);
      const annotations = { ...old.metadata?.annotations, ...body.metadata?.annotations };
      return {
        ...old,
        metadata: { ...old.metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
        spec: { ...old.spec, nodeName: target.name },
        status: { ...old.status, conditions: [...others, scheduled] },
      };
    });
    return created();
  }

  /** Deletes a pod unless its PodDisruptionBudget forbids it (429). */
  async evict(eviction: KubeObject, written: WriteContext): Promise<Status> {
    const { pods, store, deleter } = this.#options;
    const name = written.name ?? '';
    const body = await this.#admit(eviction, name, written, EVICTION);
    const context = { ...written, internal: true };
    if (body.metadata?.name !== name) throw badRequest('name in URL does not match name in Eviction object');
    const { dryRun: given = [], ...options } = (body.deleteOptions ?? {}) as DeleteOptions & { dryRun?: string[] };
    const asked = dryRunOf(context, given);
    const pod = store.get('pods', context.namespace, name)?.parse() as PodBody | undefined;
    if (!pod) throw notFound(pods.type, name);
    if (needsBudget(pod)) await this.#spendBudget(pod, asked);
    const { subresource: _, ...rest } = asked;
    await this.#markDisrupted(name, asked);
    await deleter.delete(new WriteRequest(pods, { namespace: context.namespace, name }, rest), options);
    return created();
  }

  /** Webhooks are asked about the action, and not about the writes that it leads to. */
  async #admit(object: KubeObject, name: string, context: WriteContext, kind: GroupVersionKind): Promise<KubeObject> {
    const { pods, admission } = this.#options;
    const request = new WriteRequest(pods, { namespace: context.namespace, name }, context);
    return await admission.admitUnstored(request, { operation: 'CREATE', object, kind });
  }

  /** A pod that is evicted says so (KEP-3329). */
  async #markDisrupted(name: string, context: WriteContext): Promise<void> {
    const { pods, writer } = this.#options;
    const ref = { namespace: context.namespace, name };
    const now = this.#now();
    const marks = new WriteRequest(pods, ref, { ...context, ...UNTRACKED_STATUS });
    await writer.rewrite(marks, (old: PodBody) => {
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
    if (!budget || isBesideBudget(pod, budget)) return;
    requireDisruptionAllowed(budget);
    const ref = { namespace, name: budget.metadata?.name ?? '' };
    const now = this.#now();
    await writer.rewrite(new WriteRequest(budgets, ref, { ...context, ...OWN_STATUS }), (old) => {
      requireDisruptionAllowed(old as Budget);
      return { ...old, status: spent(old as Budget, name, now) };
    });
  }

  #now(): string {
    return formatTime(this.#options.clock());
  }
}

/** The status of a budget when one more pod is disrupted. */
function spent({ metadata, status = {} }: Budget, pod: string, now: string): NonNullable<Budget['status']> {
  const disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  const { conditions = [] } = status;
  const isLast = disruptionsAllowed === 0 && !conditions.some(isDisallowed);
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: status.observedGeneration ?? metadata?.generation,
    lastTransitionTime: now,
    reason: 'InsufficientPods',
    message: '',
  };
  return {
    ...status,
    disruptionsAllowed,
    disruptedPods: { ...status.disruptedPods, [pod]: now },
    ...(isLast ? { conditions: [...conditions.filter(({ type }) => type !== condition.type), condition] } : {}),
  };
}

function isDisallowed({ type, status, reason }: { type: string; status: string; reason: string }): boolean {
  return type === 'DisruptionAllowed' && status === 'False' && reason === 'InsufficientPods';
}

/** Pods that serve nobody are evicted whatever the budget says. */
function needsBudget({ metadata, status }: PodBody): boolean {
  return !metadata?.deletionTimestamp && !['Pending', 'Succeeded', 'Failed'].includes(status?.phase ?? '');
}

/** The options of an eviction may say that it is only tried. */
function dryRunOf(context: WriteContext, given: readonly string[]): WriteContext {
  return given.length > 0 ? { ...context, dryRun: true } : context;
}

function requireTarget({ kind, name }: { kind?: string; name?: string }): void {
  const faults: string[] = [];
  if (kind && kind !== 'Node') {
    faults.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  }
  if (!name) faults.push('target.name: Required value');
  if (faults.length > 0) throw unexpected(faults.length === 1 ? faults[0]! : `[${faults.join(', ')}]`);
}

/** A pod that is not ready serves nobody: it goes where its budget says so, or where the others are enough. */
function isBesideBudget({ status }: PodBody, { spec, status: health = {} }: Budget): boolean {
  if (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return false;
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = health;
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

function requireDisruptionAllowed({ metadata, status = {} }: Budget): void {
  if ((status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) {
    const message = `The disruption budget ${metadata?.name} is still being processed by the server.`;
    throw tooManyRequests(VIOLATION, message, 10);
  }
  if ((status.disruptionsAllowed ?? 0) > 0) return;
  if ((status.disruptionsAllowed ?? 0) < 0) {
    throw forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, metadata?.name ?? '', NEGATIVE);
  }
  const failed = status.conditions?.find(({ type, reason }) => type === 'DisruptionAllowed' && reason === 'SyncFailed');
  if (failed) {
    const why = `does not allow evicting pods currently because it failed sync: ${failed.message ?? ''}`;
    throw tooManyRequests(VIOLATION, `The disruption budget ${metadata?.name} ${why}`);
  }
  const message = `The disruption budget ${metadata?.name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`;
  throw tooManyRequests(VIOLATION, message);
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
