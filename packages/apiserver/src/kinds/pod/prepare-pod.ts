import type { AppArmorProfile, LabelSelector } from '@asterism/machinery';
import { deepEqual } from '@asterism/machinery';
import { type Fields, fieldsAt, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { APP_ARMOR } from '../pod-spec/validate-pod-annotations.ts';
import { validateAppArmorProfile } from '../pod-spec/validate-security.ts';
import { APP_ARMOR_MESSAGE } from '../pod-spec/pod-warnings.ts';
import type { Draft } from '../../contract/strategy.ts';

/** A pod with gates is not even looked at by a scheduler, and says so from the start. */
export function gatedConditions(spec: Fields, now: string): Fields[] {
  if (listAt(spec, 'schedulingGates').length === 0) return [];
  return [
    {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ];
}

/** Writes what `matchLabelKeys` and `mismatchLabelKeys` mean for this pod into the selectors beside them. */
export function selectByOwnLabels(draft: Draft): void {
  const spec = fieldsAt(draft, 'spec');
  const { labels } = draft.metadata;
  const affinity = optionalFields(spec, 'affinity');
  for (const key of ['podAffinity', 'podAntiAffinity']) {
    const terms = optionalFields(affinity, key);
    for (const term of listAt(terms, 'requiredDuringSchedulingIgnoredDuringExecution')) addLabelKeys(term, labels);
    for (const weighted of listAt(terms, 'preferredDuringSchedulingIgnoredDuringExecution')) {
      const term = optionalFields(weighted, 'podAffinityTerm');
      if (term) addLabelKeys(term, labels);
    }
  }
  for (const constraint of listAt(spec, 'topologySpreadConstraints')) addLabelKeys(constraint, labels);
}

function addLabelKeys(term: Fields, labels: Readonly<Record<string, string>> | undefined): void {
  const selector = term.labelSelector as LabelSelector | undefined;
  if (!selector) return;
  const added = [
    ...textsAt(term, 'matchLabelKeys').map((key) => ({ key, operator: 'In' as const })),
    ...textsAt(term, 'mismatchLabelKeys').map((key) => ({ key, operator: 'NotIn' as const })),
  ].flatMap(({ key, operator }) => {
    const value = labels?.[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  if (added.length > 0) selector.matchExpressions = [...(selector.matchExpressions ?? []), ...added];
}

/** An AppArmor profile that a container has by an annotation becomes one that it has by its field. */
export function adoptAppArmorAnnotations(draft: Draft, warn: (text: string) => void): void {
  const { annotations } = draft.metadata;
  const spec = fieldsAt(draft, 'spec');
  if (!annotations || textAt(optionalFields(spec, 'os'), 'name') === 'windows') return;
  const ofPod = optionalFields(spec, 'securityContext')?.appArmorProfile;
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of listAt(spec, list)) {
      const key = `${APP_ARMOR}${textAt(container, 'name')}`;
      const annotation = annotations[key];
      if (annotation === undefined || optionalFields(container, 'securityContext')?.appArmorProfile) continue;
      const profile = profileOf(annotation);
      const differs = profile && !deepEqual(profile, ofPod);
      if (differs) fieldsAt(container, 'securityContext').appArmorProfile = profile;
      if (!profile || differs) warn(`metadata.annotations[${key}]: ${APP_ARMOR_MESSAGE}`);
    }
  }
}

function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith('localhost/')) return undefined;
  const profile: AppArmorProfile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) };
  const faults = new Faults();
  validateAppArmorProfile(profile, FieldPath.of(''), faults);
  return faults.found.length > 0 ? undefined : profile;
}
