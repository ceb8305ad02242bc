import type { Client } from '@asterism/client';
import {
  type Deployment,
  DEPLOYMENTS,
  type KubeObject,
  NAMESPACES,
  PODS,
  type Pod,
  ifFound,
} from '@asterism/machinery';
import {
  AGENT_CREDENTIAL_SECRET,
  CLUSTER_REGISTRATIONS,
  MADE_BY_JOIN,
  MADE_BY_LABEL,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';
import { loadAgentCredential } from '../connect/agent-credential.ts';
import { AGENT_DEPLOYMENT, AGENT_POD_LABELS } from './agent-manifests.ts';

/** The manager of what is applied in a member by `aster`. */
const MANAGER = 'aster-join';

export interface ApplyOptions {
  signal?: AbortSignal | undefined;
  /** Only asks the server whether it would. Default false. */
  dryRun?: boolean | undefined;
  /** Told of each object that stands. */
  onApplied?: ((object: KubeObject) => void) | undefined;
}

/**
 * Applies what a join makes in a member, in order. A namespace that was there before is left as it is: it is not the join's to
 * remove. Begun again after any failure it goes on.
 */
export async function applyInMember(
  member: Client,
  objects: readonly KubeObject[],
  { signal, dryRun = false, onApplied }: ApplyOptions = {},
): Promise<void> {
  for (const object of objects) {
    const { name = '' } = object.metadata ?? {};
    if (object.kind === 'Namespace' && (await isForeign(member, name, signal))) continue;
    const type = await member.discovery.typeFor(object);
    const options = { fieldManager: MANAGER, force: true, signal };
    if (!dryRun) await member.resource(type).apply(object, options);
    onApplied?.(object);
  }
}

async function isForeign(member: Client, name: string, signal: AbortSignal | undefined): Promise<boolean> {
  const namespace = await ifFound(member.resource(NAMESPACES).get({ name }, { signal }));
  return namespace !== undefined && namespace.metadata?.labels?.[MADE_BY_LABEL] !== MADE_BY_JOIN;
}

/**
 * How far an agent that was put into a member is.
 *
 * - `Ready`: it has joined, is connected, and has reported.
 * - `Waiting`: what it hangs on, in words.
 * - `Refused`: the hub said no; waiting does not help.
 */
export type AgentProgress = { state: 'Ready' } | { state: 'Waiting' | 'Refused'; message: string };

/**
 * One look at an agent's Deployment, its pod, and (as the token may) at what became of its request at the hub.
 *
 * @param hub as the bootstrap token; undefined where there is none
 */
export async function agentProgress(
  member: Client,
  hub: Client | undefined,
  signal?: AbortSignal,
): Promise<AgentProgress> {
  const ref = { namespace: SYSTEM_NAMESPACE, name: AGENT_DEPLOYMENT };
  const deployment = await ifFound(member.resource(DEPLOYMENTS).get(ref, { signal }));
  if (!deployment)
    return { state: 'Waiting', message: `there is no Deployment ${SYSTEM_NAMESPACE}/${AGENT_DEPLOYMENT}` };
  if (isAvailable(deployment)) return { state: 'Ready' };
  const selector = Object.entries(AGENT_POD_LABELS)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const listing = { namespace: SYSTEM_NAMESPACE, labelSelector: selector, signal };
  const pods = (await member.resource(PODS).list(listing)).items;
  const pod = pods
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .toSorted((a, b) => created(b) - created(a))[0];
  const request = await requestProgress(member, hub, signal);
  if (request?.state === 'Refused') return request;
  const message = pod ? podProgress(pod) : (withoutPod(deployment) ?? 'no pod was made for the agent yet');
  if (message !== undefined) return { state: 'Waiting', message };
  return request ?? { state: 'Waiting', message: 'the agent runs, and has not asked the hub yet: see its log' };
}

function isAvailable({ metadata, spec, status = {} }: Deployment): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const wanted = spec?.replicas ?? 1;
  return observedGeneration >= (metadata?.generation ?? 1) && updatedReplicas >= wanted && availableReplicas >= wanted;
}

function withoutPod({ status }: Deployment): string | undefined {
  const failure = status?.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
  return failure && `the agent's pod cannot be made: ${failure.message ?? 'ReplicaFailure'}`;
}

/** What a pod hangs on; undefined where its container runs. */
export function podProgress({ metadata, status = {} }: Pod): string | undefined {
  const pod = `pod ${metadata?.name ?? ''}`;
  const unscheduled = status.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unscheduled) return `${pod} has no node: ${unscheduled.message ?? unscheduled.reason ?? ''}`;
  const [container] = status.containerStatuses ?? [];
  const last = container?.lastState?.terminated ?? container?.state?.terminated;
  const { waiting, running } = container?.state ?? {};
  if (waiting && last) return `${pod}: ${waiting.reason ?? 'waiting'}: the agent ended: ${lastWords(last)}`;
  if (waiting) return `${pod}: ${[waiting.reason, waiting.message].filter(Boolean).join(': ')}`;
  if (!running) return last ? `${pod}: the agent ended: ${lastWords(last)}` : `${pod} starts`;
  return undefined;
}

function lastWords({ exitCode, message }: { exitCode?: number; message?: string }): string {
  const lines = message?.trim().split('\n') ?? [];
  return `${lines.at(-1) ?? 'it said nothing'} (exit code ${exitCode ?? '?'})`;
}

async function requestProgress(
  member: Client,
  hub: Client | undefined,
  signal: AbortSignal | undefined,
): Promise<Exclude<AgentProgress, { state: 'Ready' }> | undefined> {
  const credential = await loadAgentCredential(member, signal);
  if (credential?.certificate !== undefined) {
    return { state: 'Waiting', message: 'the hub let it in: the agent connects' };
  }
  const { request } = credential ?? {};
  if (request === undefined || hub === undefined) return undefined;
  const registration = await ifFound(hub.resource(CLUSTER_REGISTRATIONS).get({ name: request }, { signal }));
  if (!registration) return undefined;
  const { decision, message = 'the hub has not looked at it yet' } = registration.status ?? {};
  if (decision === 'Denied') return { state: 'Refused', message: `the hub denied the request ${request}: ${message}` };
  return { state: 'Waiting', message: `request ${request} (${AGENT_CREDENTIAL_SECRET}): ${message}` };
}

const created = ({ metadata }: KubeObject): number => Date.parse(metadata?.creationTimestamp ?? '');
