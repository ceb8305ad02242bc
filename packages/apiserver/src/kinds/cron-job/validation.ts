import type { LabelSelector } from '@asterism/machinery';
import { validateJobSpec } from '../job/validation.ts';
import { validateCounts, SPEC } from '../workload/validate-workload.ts';
import { isTimeZone, scheduleFault } from './cron-schedule.ts';
import { type Fields, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { writtenSelector } from '../validation/validate-label-selector.ts';

export const JOB_SPEC = SPEC.child('jobTemplate').child('spec');
const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

export function validateCronJobSpec(spec: Fields, old: Fields | undefined, faults: Faults): void {
  const schedule = textAt(spec, 'schedule');
  const at = SPEC.child('schedule');
  if (schedule === '') faults.required(at);
  else validateSchedule(schedule, spec.timeZone !== undefined, old?.schedule === schedule, faults);
  validateCounts(spec, ['startingDeadlineSeconds'], SPEC, faults);
  const { timeZone } = spec;
  if (typeof timeZone === 'string' && old?.timeZone !== timeZone) validateTimeZone(timeZone, faults);
  const policy = textAt(spec, 'concurrencyPolicy');
  if (policy === '') faults.required(SPEC.child('concurrencyPolicy'));
  else if (!CONCURRENCY.includes(policy)) {
    faults.notSupported(SPEC.child('concurrencyPolicy'), policy, CONCURRENCY);
  }
  const jobSpec = optionalFields(optionalFields(spec, 'jobTemplate'), 'spec') ?? {};
  validateJobSpec(jobSpec, JOB_SPEC, faults);
  // Every job selects its own pods, so its template cannot say how.
  if (jobSpec.selector !== undefined) {
    faults.invalidStruct(
      JOB_SPEC.child('selector'),
      writtenSelector(jobSpec.selector as LabelSelector),
      '`selector` will be auto-generated',
    );
  }
  if (jobSpec.manualSelector === true) {
    faults.notSupported(JOB_SPEC.child('manualSelector'), true, ['nil', 'false']);
  }
  validateCounts(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], SPEC, faults);
}

function validateSchedule(schedule: string, withZone: boolean, isOld: boolean, faults: Faults): void {
  const at = SPEC.child('schedule');
  const fault = scheduleFault(schedule);
  if (fault !== undefined) faults.invalid(at, schedule, fault);
  if (!schedule.includes('TZ')) return;
  if (withZone) faults.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  else if (!isOld) faults.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
}

function validateTimeZone(zone: string, faults: Faults): void {
  const at = SPEC.child('timeZone');
  if (zone === '') return faults.invalid(at, zone, 'timeZone must be nil or non-empty string');
  if (zone.toLowerCase() === 'local')
    return faults.invalid(
      at,
      zone,
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    );
  if (!isTimeZone(zone)) faults.invalid(at, zone, `unknown time zone ${zone}`);
}
