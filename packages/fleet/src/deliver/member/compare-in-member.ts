import type { Client } from '@asterism/client';
import { isNotFound, isStatusError, type KubeObject, type ResourceType } from '@asterism/machinery';
import { FIELD_MANAGER, MANAGED_LABEL } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import { managedLabelValue, workName } from '../../template/binding-name.ts';
import { manifestRefOf } from '../works/manifest-ref.ts';
import { keepScale } from './keep-scale.ts';
import { isForeign, labelled, readObject, whyNotOurs } from './member-objects.ts';
import { overlay } from './overlay.ts';
import { whyReserved } from './reserved.ts';
import { applyDeclared } from './undeclared-fields.ts';

/**
 * How what stands in a member is to what shall stand there.
 *
 * - `Standing`: it is there; it differs where `live` and `wanted` do.
 * - `Missing`: it is not there.
 * - `NotOurs`: something of its name is, and delivery does not touch it; `wanted` is what it would become if it did.
 * - `ToBeTaken`: something of its name is, and delivery takes it over, as the policy has it. What of it the template does not have goes
 *   too, where it is of somebody who wrote it as a whole; `wanted` does not tell that.
 * - `Refused`: the member would not take it; `message` says why.
 * - `Extra`: it is there and ours, and shall not be.
 * - `Absent`: it neither is there nor shall be, or what is there is not ours.
 */
export interface MemberComparison {
  state: 'Standing' | 'Missing' | 'NotOurs' | 'ToBeTaken' | 'Refused' | 'Extra' | 'Absent';
  live: KubeObject | undefined;
  wanted: KubeObject | undefined;
  /** Why it is not ours, or is refused. */
  message?: string;
  /** Why `wanted` is computed here, by fields, and not by the member in a dry run. */
  notAsked?: string;
  /** Why it could not be seen whether an autoscaler has given the replicas. */
  scaleUnknown?: string;
}

/** What delivery would bring into one member. */
export interface Wanted {
  manifest: KubeObject;
  /** Of the object's mark: see {@link markOf}. */
  label: string;
  /** Whether the policy has it take over what is not ours. */
  overwrite: boolean;
}

/** By what an object in a member shows which binding placed it. */
export function markOf({ metadata: { namespace, name = '' } }: Binding): string {
  return managedLabelValue(workName({ namespace, name }));
}

/**
 * Compares by what the member itself would make of the manifest: the dry run of the apply that delivery does, by which defaults,
 * other managers' fields and webhooks count. Where the caller may not, or where a webhook can do no dry run, field by field.
 *
 * @param member as whoever asks: what that may not read is a `Forbidden` here
 */
export async function compareInMember(member: Client, wanted: Wanted, signal?: AbortSignal): Promise<MemberComparison> {
  const ref = manifestRefOf(wanted.manifest);
  const reserved = whyReserved(ref);
  const type = await typeIn(member, wanted.manifest);
  if ('message' in type) return { state: 'Refused', live: undefined, wanted: wanted.manifest, message: type.message };
  const live = await readObject({ client: member }, type, ref, signal);
  if (reserved !== undefined) return { state: 'Refused', live, wanted: wanted.manifest, message: reserved };
  const { manifest, ...unknown } = await withScale(member, labelled(wanted.manifest, wanted.label), live, signal);
  const untouched = live && whyUntouched(live, wanted);
  const state = untouched ? 'NotOurs' : !live ? 'Missing' : isForeign(live) ? 'ToBeTaken' : 'Standing';
  const told = { ...unknown, ...(untouched ? { message: untouched } : {}) };
  const dryRun = { fieldManager: FIELD_MANAGER, force: true, dryRun: true, signal } as const;
  try {
    const made = await applyDeclared(manifest, (known) => member.resource(type).apply(known, dryRun));
    return { state, live, wanted: made.live, ...told };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const guess = live ? (overlay(live, manifest) as KubeObject) : manifest;
    // That its namespace is not there yet is no obstacle: delivery makes it.
    if (error.code === 404) return { state, live, wanted: guess, ...told };
    const cannotAsk = error.code === 403 || /dry.?run/i.test(error.message);
    if (cannotAsk) return { state, live, wanted: guess, ...told, notAsked: error.message };
    return { state: 'Refused', live, wanted: guess, message: error.message };
  }
}

/** With the replicas that an autoscaler there has given it; whoever may not look for one is told so. */
async function withScale(
  member: Client,
  manifest: KubeObject,
  live: KubeObject | undefined,
  signal: AbortSignal | undefined,
): Promise<{ manifest: KubeObject; scaleUnknown?: string }> {
  try {
    return { manifest: await keepScale({ client: member }, manifest, live, signal) };
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    return { manifest, scaleUnknown: error.message };
  }
}

async function typeIn(member: Client, object: KubeObject): Promise<ResourceType | { message: string }> {
  try {
    return await member.discovery.typeFor(object);
  } catch (error) {
    if (isNotFound(error)) return { message: error.message };
    throw error;
  }
}

/** The same where nothing shall be: whether something of ours is all the same. */
export async function findExtra(
  member: Client,
  object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
  label: string,
  signal?: AbortSignal,
): Promise<MemberComparison> {
  const absent: MemberComparison = { state: 'Absent', live: undefined, wanted: undefined };
  const ref = manifestRefOf(object);
  try {
    const type = await member.discovery.typeFor(ref);
    const live = await readObject({ client: member }, type, ref, signal);
    return live?.metadata?.labels?.[MANAGED_LABEL] === label ? { ...absent, state: 'Extra', live } : absent;
  } catch (error) {
    if (isNotFound(error)) return absent;
    throw error;
  }
}

/** As the executor asks; whether the Work of another mark still exists cannot be seen from here. */
function whyUntouched(live: KubeObject, { label, overwrite }: Wanted): string | undefined {
  if (live.metadata?.labels?.[MANAGED_LABEL] === label) return undefined;
  return whyNotOurs(live, { overwrite, owner: (other) => other });
}
