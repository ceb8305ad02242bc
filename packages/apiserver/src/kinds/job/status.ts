import { deepEqual, type KubeObject } from '@asterism/machinery';
import { countIndexes, indexesOf } from './validate-job-policies.ts';
import { validateCounts, specOf, STATUS, statusOf } from '../workload/validate-workload.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';

/** A status, the one before, and the spec of the job that has it. */
interface Progress {
  status: Fields;
  before: Fields;
  spec: Fields;
  /** Whether one of these fields of the status is new. */
  changed(...keys: string[]): boolean;
  /** Whether a condition of this type holds, and whether it does so, or does no more, only now. */
  holds(type: string): boolean;
  turned(...types: string[]): boolean;
}

/**
 * The rules of `ValidateJobUpdateStatus`: a status says what can be, and a job that is over stays over. Most are asked only of
 * what the update changes.
 */
export function validateJobStatus(object: KubeObject, old: KubeObject, faults: Faults): void {
  const status = statusOf(object);
  const before = statusOf(old);
  const progress: Progress = {
    status,
    before,
    spec: specOf(object),
    changed: (...keys) => keys.some((key) => !deepEqual(status[key] ?? null, before[key] ?? null)),
    holds: (type) => isTrue(status, type),
    turned: (...types) => types.some((type) => isTrue(status, type) !== isTrue(before, type)),
  };
  validateCounts(status, ['active', 'succeeded', 'failed', 'ready', 'terminating'], STATUS, faults);
  validateUncounted(status, faults);
  validateConditions(progress, faults);
  validateTimes(progress, faults);
  validateEnd(progress, faults);
  validateIndexes(progress, faults);
  validateTransition(progress, faults);
}

function isTrue(status: Fields, type: string): boolean {
  return listAt(status, 'conditions').some((each) => each.type === type && each.status === 'True');
}

/** Pods that are over and not yet counted have a name, and are named once. */
function validateUncounted(status: Fields, faults: Faults): void {
  const uncounted = optionalFields(status, 'uncountedTerminatedPods');
  if (!uncounted) return;
  const seen = new Set<unknown>();
  for (const list of ['succeeded', 'failed']) {
    const uids: unknown[] = Array.isArray(uncounted[list]) ? uncounted[list] : [];
    for (const [index, uid] of uids.entries()) {
      const at = STATUS.child('uncountedTerminatedPods').child(list).index(index);
      if (uid === '') faults.invalid(at, uid, 'must not be empty');
      else if (seen.has(uid)) faults.duplicate(at, uid);
      else seen.add(uid);
    }
  }
}

/** Conditions that exclude each other, or have another as their cause. */
function validateConditions({ holds, turned, changed }: Progress, faults: Faults): void {
  const refuse = (why: string): void => faults.invalidWithoutValue(STATUS.child('conditions'), why);
  if (turned('Complete', 'Failed') && holds('Complete') && holds('Failed')) {
    refuse('cannot set Complete=True and Failed=true conditions');
  }
  if (turned('Complete', 'FailureTarget') && holds('Complete') && holds('FailureTarget')) {
    refuse('cannot set Complete=True and FailureTarget=true conditions');
  }
  if ((turned('Failed') || changed('failedIndexes')) && holds('Failed') && !holds('FailureTarget')) {
    refuse('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if (turned('Complete', 'SuccessCriteriaMet') && holds('Complete') && !holds('SuccessCriteriaMet')) {
    refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
}

function validateTimes({ status, holds, turned, changed }: Progress, faults: Faults): void {
  const at = STATUS.child('completionTime');
  const { startTime, completionTime } = status;
  if (turned('Complete') || changed('completionTime')) {
    if (completionTime !== undefined && !holds('Complete')) {
      faults.invalid(at, completionTime, 'cannot set completionTime when there is no Complete=True condition');
    }
    if (completionTime === undefined && holds('Complete')) {
      faults.required(at, 'completionTime is required for Complete jobs');
    }
  }
  if (!changed('startTime', 'completionTime')) return;
  if (typeof startTime !== 'string' || typeof completionTime !== 'string' || completionTime >= startTime) return;
  faults.invalid(at, completionTime, 'completionTime cannot be set before startTime');
}

/** Nothing of a job that is over runs. */
function validateEnd({ status, holds, turned, changed }: Progress, faults: Faults): void {
  const isOver = holds('Complete') || holds('Failed');
  const isNews = turned('Complete', 'Failed');
  const active = numberAt(status, 'active') ?? 0;
  const ready = numberAt(status, 'ready');
  const terminating = numberAt(status, 'terminating') ?? 0;
  if (isOver && active > 0 && (isNews || changed('active'))) {
    faults.invalid(STATUS.child('active'), active, 'active>0 is invalid for finished job');
  }
  if (isOver && terminating > 0 && (isNews || changed('terminating'))) {
    faults.invalid(STATUS.child('terminating'), terminating, 'terminating>0 is invalid for finished job');
  }
  if (ready !== undefined && ready > active && changed('ready', 'active')) {
    faults.invalid(STATUS.child('ready'), ready, 'cannot set more ready pods than active');
  }
  if (isOver && status.startTime === undefined && (isNews || changed('startTime'))) {
    faults.required(STATUS.child('startTime'), 'startTime is required for finished job');
  }
  const uncounted = optionalFields(status, 'uncountedTerminatedPods');
  const { failed, succeeded } = uncounted ?? {};
  const count = (Array.isArray(failed) ? failed.length : 0) + (Array.isArray(succeeded) ? succeeded.length : 0);
  if (isOver && count > 0 && (isNews || changed('uncountedTerminatedPods'))) {
    const shown = { Succeeded: succeeded ?? null, Failed: failed ?? null };
    const detail = 'uncountedTerminatedPods needs to be empty for finished job';
    faults.invalidStruct(STATUS.child('uncountedTerminatedPods'), shown, detail);
  }
}

function validateIndexes({ status, spec, changed }: Progress, faults: Faults): void {
  const completions = numberAt(spec, 'completions');
  const completed = textAt(status, 'completedIndexes');
  const { failedIndexes } = status;
  for (const key of ['completedIndexes', 'failedIndexes']) {
    if (completions === undefined || !changed(key)) continue;
    const text = textAt(status, key);
    const fault = countIndexes(text, completions);
    if (typeof fault === 'string') faults.invalid(STATUS.child(key), text, `error parsing ${key}: ${fault}`);
  }
  if (changed('completedIndexes') && completed !== '' && spec.completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    faults.invalid(STATUS.child('completedIndexes'), completed, detail);
  }
  if (typeof failedIndexes !== 'string' || !changed('completedIndexes', 'failedIndexes')) return;
  if (changed('failedIndexes') && spec.backoffLimitPerIndex === undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    faults.invalid(STATUS.child('failedIndexes'), failedIndexes, detail);
  }
  if (completions === undefined) return;
  const done = indexesOf(completed, completions);
  const failed = indexesOf(failedIndexes, completions);
  if (typeof done === 'string' || typeof failed === 'string') return;
  const overlap = areOverlapping(done, failed);
  if (!overlap) return;
  const detail = 'failedIndexes and completedIndexes cannot overlap';
  faults.invalid(STATUS.child('failedIndexes'), failedIndexes, detail);
}

/** Whether two lists of ranges, each in order and without overlaps of its own, share a number. */
function areOverlapping(a: readonly [number, number][], b: readonly [number, number][]): boolean {
  let index = 0;
  for (const [from, to] of a) {
    while (index < b.length && (b[index]?.[1] ?? 0) < from) index += 1;
    if (index < b.length && (b[index]?.[0] ?? 0) <= to) return true;
  }
  return false;
}

/** What was so cannot be otherwise any more. */
function validateTransition({ status, before, spec, holds, changed }: Progress, faults: Faults): void {
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (!isTrue(before, type) || holds(type)) continue;
    const detail = `cannot disable the terminal ${type}=True condition`;
    faults.invalidWithoutValue(STATUS.child('conditions'), detail);
  }
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const key of mayShrink ? ['failed'] : ['failed', 'succeeded']) {
    const now = numberAt(status, key) ?? 0;
    if (now < (numberAt(before, key) ?? 0)) {
      faults.invalid(STATUS.child(key), now, `cannot decrease the ${key} counter`);
    }
  }
  const { completionTime } = status;
  if (completionTime !== undefined && before.completionTime !== undefined && changed('completionTime')) {
    faults.invalid(STATUS.child('completionTime'), completionTime, 'completionTime cannot be mutated');
  }
  if (before.startTime !== undefined && changed('startTime') && spec.suspend !== true) {
    faults.required(STATUS.child('startTime'), 'startTime cannot be removed for unsuspended job');
  }
}
