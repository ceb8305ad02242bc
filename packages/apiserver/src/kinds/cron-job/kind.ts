import { validateDns1123Subdomain } from '@asterism/machinery';
import { specOf } from '../workload/validate-workload.ts';
import { fieldsAt, optionalFields, setDefaults, setDefaultText, textAt } from '../fields/draft-fields.ts';
import { FieldPath } from '../validation/field-path.ts';
import { jobSpecWarnings } from '../job/kind.ts';
import { nameWarnings } from '../pod/kind.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Kind } from '../../contract/kind.ts';
import { JOB_SPEC, validateCronJobSpec } from './validation.ts';
import { collectFaults } from '../validation/faults.ts';

/** Jobs get eleven characters of their own behind the CronJob's name. */
const NAME_LIMIT = 52;

const ZONE_WARNING =
  'CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

export const cronJobKind: Kind = {
  groupResource: 'cronjobs.batch',
  legacyVersions: [
    // kube-controller-manager, `kubectl create cronjob` and `kubectl describe cronjob` of 1.20 use it.
    { group: 'batch', version: 'v1beta1', defaultPropagation: 'Orphan', deprecated: 'v1.21', removed: 'v1.25' },
  ],
  strategy: {
    generation: 'spec',
    validateName: validateDns1123Subdomain,

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      setDefaultText(spec, 'concurrencyPolicy', 'Allow');
      setDefaults(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
      const template = optionalFields(optionalFields(fieldsAt(spec, 'jobTemplate'), 'spec'), 'template');
      if (template) defaultPodTemplate(template);
    },

    validateCreate: (object) =>
      collectFaults((faults) => {
        validateCronJobSpec(specOf(object), undefined, faults);
        const name = object.metadata?.name ?? '';
        if (name.length <= NAME_LIMIT) return;
        faults.invalid(FieldPath.of('metadata').child('name'), name, `must be no more than ${NAME_LIMIT} characters`);
      }),

    validateUpdate: (object, old) =>
      collectFaults((faults) => validateCronJobSpec(specOf(object), specOf(old), faults)),

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
  },
};
