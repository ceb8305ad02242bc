import { cronScheduleFault, isTimeZone, type LabelSelector, validateDns1123Subdomain } from '@asterism/machinery';
import type { Strategy } from '../strategy.ts';
import { checkJobSpec } from './check-job.ts';
import { checkCounts, faultsOf, SPEC, specOf } from './check-workload.ts';
import { type Fields, fieldsAt, optionalFields, setDefaults, setDefaultText, textAt } from './draft-fields.ts';
import type { Faults } from './faults.ts';
import { FieldPath } from './field-path.ts';
import { jobSpecWarnings } from './job.ts';
import { writtenSelector } from './label-selector-faults.ts';
import { nameWarnings } from './pod.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';

/** Jobs get eleven characters of their own behind the CronJob's name. */
const NAME_LIMIT = 52;
const JOB_SPEC = SPEC.child('jobTemplate').child('spec');
const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

const ZONE_WARNING =
  'CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

export const cronJobStrategy: Strategy = {
  validatesEnums: true,
  validateName: validateDns1123Subdomain,

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    setDefaultText(spec, 'concurrencyPolicy', 'Allow');
    setDefaults(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
    const template = optionalFields(optionalFields(fieldsAt(spec, 'jobTemplate'), 'spec'), 'template');
    if (template) defaultPodTemplate(template);
  },

  validateCreate: (object) =>
    faultsOf((faults) => {
      checkCronJobSpec(specOf(object), undefined, faults);
      const name = object.metadata?.name ?? '';
      if (name.length <= NAME_LIMIT) return;
      faults.invalid(FieldPath.of('metadata').child('name'), name, `must be no more than ${NAME_LIMIT} characters`);
    }),

  validateUpdate: (object, old) => faultsOf((faults) => checkCronJobSpec(specOf(object), specOf(old), faults)),

  warnings(object, old, subresource) {
    if (subresource !== undefined) return [];
    const isNew = !old || object.metadata?.generation !== old.metadata?.generation;
    const spec = specOf(object);
    const jobSpec = optionalFields(optionalFields(spec, 'jobTemplate'), 'spec') ?? {};
    const warnings = old ? [] : nameWarnings(object.metadata?.name ?? '', 'this is used in Pod names and hostnames');
    if (isNew) warnings.push(...jobSpecWarnings(jobSpec, JOB_SPEC));
    if (old && isNew && textAt(spec, 'schedule').includes('TZ')) warnings.push(ZONE_WARNING);
    return warnings;
  },
};

function checkCronJobSpec(spec: Fields, old: Fields | undefined, faults: Faults): void {
  const schedule = textAt(spec, 'schedule');
  const at = SPEC.child('schedule');
  if (schedule === '') faults.required(at);
  else checkSchedule(schedule, spec.timeZone !== undefined, old?.schedule === schedule, faults);
  checkCounts(spec, ['startingDeadlineSeconds'], SPEC, faults);
  const { timeZone } = spec;
  if (typeof timeZone === 'string' && old?.timeZone !== timeZone) checkTimeZone(timeZone, faults);
  const policy = textAt(spec, 'concurrencyPolicy');
  if (policy === '') faults.required(SPEC.child('concurrencyPolicy'));
  else if (!CONCURRENCY.includes(policy)) {
    faults.notSupported(SPEC.child('concurrencyPolicy'), policy, CONCURRENCY);
  }
  const jobSpec = optionalFields(optionalFields(spec, 'jobTemplate'), 'spec') ?? {};
  checkJobSpec(jobSpec, JOB_SPEC, faults);
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
  checkCounts(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], SPEC, faults);
}

function checkSchedule(schedule: string, withZone: boolean, isOld: boolean, faults: Faults): void {
  const at = SPEC.child('schedule');
  const fault = cronScheduleFault(schedule);
  if (fault !== undefined) faults.invalid(at, schedule, fault);
  if (!schedule.includes('TZ')) return;
  if (withZone) faults.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  else if (!isOld) faults.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
}

function checkTimeZone(zone: string, faults: Faults): void {
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
