import { type FieldError, validateDns1123Subdomain } from '@asterism/machinery';
import { invalidValue, required, type Strategy } from '../strategy.ts';
import { fieldsAt, optionalFields, setDefaults, setDefaultText, textAt } from './draft-fields.ts';
import { validateJobSpec } from './job.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative } from './validate-pod-template.ts';

/** Jobs get eleven characters of their own behind the CronJob's name. */
const NAME_LIMIT = 52;

export const cronJobStrategy: Strategy = {
  validateName(name) {
    const faults = validateDns1123Subdomain(name);
    return name.length > NAME_LIMIT ? [...faults, `must be no more than ${NAME_LIMIT} characters`] : faults;
  },

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    setDefaultText(spec, 'concurrencyPolicy', 'Allow');
    setDefaults(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
    const template = optionalFields(optionalFields(fieldsAt(spec, 'jobTemplate'), 'spec'), 'template');
    if (template) defaultPodTemplate(template);
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    const schedule = textAt(spec, 'schedule');
    const errors: FieldError[] = validateJobSpec(
      optionalFields(optionalFields(spec, 'jobTemplate'), 'spec'),
      'spec.jobTemplate.spec',
    );
    if (schedule === '') errors.push(required('spec.schedule'));
    else if (!isCronSchedule(schedule)) {
      const found = schedule.trim().split(/\s+/).length;
      errors.push(invalidValue('spec.schedule', schedule, `expected exactly 5 fields, found ${found}: [${schedule}]`));
    }
    const keys = ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'];
    return [...errors, ...validateNotNegative(spec, keys)];
  },
};

/** Five fields, or one of the descriptors that robfig/cron knows. */
function isCronSchedule(schedule: string): boolean {
  const text = schedule.trim();
  if (text.startsWith('@')) return /^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)$/.test(text);
  return text.split(/\s+/).length === 5;
}
