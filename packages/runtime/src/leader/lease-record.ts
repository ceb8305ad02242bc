import type { Lease } from '@asterism/machinery';

export type LeaseSpec = NonNullable<Lease['spec']>;

/** A Lease as this process last saw it change. */
export interface SeenLease {
  /** Undefined: it was seen to be gone. */
  spec: LeaseSpec | undefined;
  /** By this process's own monotonic clock, ms. */
  at: number;
  /** How long after `at` whoever held it may still act, ms. */
  validMs: number;
}

/** What a process that does not lead does about the Lease. */
export type StandbyStep =
  /** There is none, or nobody's, or its holder has let it pass. */
  { act: 'Take'; seen: SeenLease } | { act: 'Wait'; seen: SeenLease; forMs: number };

/**
 * Decides by when the record was *seen to change*, never by the times in it: they are another machine's.
 *
 * L1 A Lease that somebody holds is theirs until it was seen unchanged for as long as it says it is valid.
 * L2 A Lease that is gone still protects who was seen to hold it: it may have been deleted under its holder.
 * L3 A Lease without a holder was released, and is free at once.
 */
export function decideStandby(options: {
  spec: LeaseSpec | undefined;
  seen: SeenLease | undefined;
  now: number;
  leaseDurationMs: number;
  /** Whether nobody else acts by this record: this process wrote it and the answer was lost, or its writer has ended. */
  isOwn: (spec: LeaseSpec) => boolean;
}): StandbyStep {
  const { spec, seen, now, leaseDurationMs, isOwn } = options;
  const current = observeLease(spec, seen, now, leaseDurationMs);
  const forMs = current.at + current.validMs - now;
  return forMs <= 0 || (spec !== undefined && isOwn(spec))
    ? { act: 'Take', seen: current }
    : { act: 'Wait', seen: current, forMs };
}

/** What is known after a look that found this record, or none. `seen` itself where nothing has changed. */
export function observeLease(
  spec: LeaseSpec | undefined,
  seen: SeenLease | undefined,
  now: number,
  leaseDurationMs: number,
): SeenLease {
  if (seen && isSame(spec, seen.spec)) return seen;
  // Gone (L2): what was known of it counts on. Never seen at all: there is nobody to wait for.
  if (!spec) return seen ? { ...seen, spec: undefined } : { spec: undefined, at: now, validMs: 0 };
  return { spec, at: now, validMs: spec.holderIdentity ? validity(spec, leaseDurationMs) : 0 };
}

/** The record's own, which may have been written with other settings; whole seconds, so this process's where they agree. */
function validity({ leaseDurationSeconds }: LeaseSpec, leaseDurationMs: number): number {
  if (leaseDurationSeconds === undefined || leaseDurationSeconds === wholeSeconds(leaseDurationMs))
    return leaseDurationMs;
  return leaseDurationSeconds * 1000;
}

/** The record by which `identity` takes the Lease. `random` makes the time of taking it unlike any other process's. */
export function takenSpec(
  before: LeaseSpec | undefined,
  options: { identity: string; leaseDurationMs: number; now: number; random: () => number },
): LeaseSpec {
  const time = microTime(options.now, Math.floor(options.random() * 1000));
  return {
    holderIdentity: options.identity,
    leaseDurationSeconds: wholeSeconds(options.leaseDurationMs),
    acquireTime: time,
    renewTime: time,
    leaseTransitions: (before?.leaseTransitions ?? -1) + 1,
  };
}

export function renewedSpec(held: LeaseSpec, now: number): LeaseSpec {
  return { ...held, renewTime: microTime(now, 0) };
}

/** Nobody's: whoever sees it may take it at once. It keeps no holder, as an empty one is not valid. */
export function releasedSpec(held: LeaseSpec, now: number): LeaseSpec {
  const { leaseTransitions = 0 } = held;
  return { leaseDurationSeconds: 1, renewTime: microTime(now, 0), leaseTransitions };
}

/** Whether both are of one taking: renewals, and other people's labels, change neither of these. */
export function isSameTaking(a: LeaseSpec, b: LeaseSpec): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.acquireTime === b.acquireTime &&
    a.leaseTransitions === b.leaseTransitions
  );
}

function isSame(a: LeaseSpec | undefined, b: LeaseSpec | undefined): boolean {
  if (!a || !b) return a === b;
  return isSameTaking(a, b) && a.renewTime === b.renewTime && a.leaseDurationSeconds === b.leaseDurationSeconds;
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** `MicroTime` of Kubernetes: RFC 3339 with six digits. */
function microTime(ms: number, micros: number): string {
  return new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
}
