import { deepEqual } from '@asterism/machinery';
import { mergedConditions } from './aggregate-conditions.ts';
import { type Aggregate, type Aggregation, isNowhere, observedGenerationOf, statusesOf } from './aggregation.ts';
import { kindKey } from './kind-key.ts';
import type { Status } from './status-fields.ts';

/** Kinds whose status the API server of the templates, or a controller beside it, writes of its own objects. */
const SAID_BY_THE_HUB: ReadonlySet<string> = new Set([
  'Namespace',
  'Node',
  'ResourceQuota',
  'APIService.apiregistration.k8s.io',
  'CertificateSigningRequest.certificates.k8s.io',
  'CustomResourceDefinition.apiextensions.k8s.io',
  'FlowSchema.flowcontrol.apiserver.k8s.io',
  'MutatingAdmissionPolicy.admissionregistration.k8s.io',
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io',
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io',
]);

const MERGED: ReadonlySet<string> = new Set(['conditions', 'observedGeneration']);

/**
 * Of a kind that nothing is known of: its conditions, merged; `observedGeneration` by the rule; and what is the same in every cluster.
 * A number is taken of a single cluster only, for of several it may be a sum; what differs is left to the binding, which has it by
 * cluster. Where no cluster has it any more, nothing of that is left.
 */
export const aggregateCustom: Aggregate = (aggregation) => {
  const { template, wasPlaced } = aggregation;
  if (SAID_BY_THE_HUB.has(kindKey(template))) return undefined;
  if (isNowhere(aggregation)) return wasPlaced ? {} : undefined;
  const statuses = statusesOf(aggregation).filter((status) => status !== undefined);
  if (statuses.length === 0) return undefined;
  const tellsGenerations = statuses.some((status) => typeof status['observedGeneration'] === 'number');
  const conditions = mergedConditions(aggregation);
  return {
    ...sharedFields(aggregation),
    ...(tellsGenerations ? observedGenerationOf(aggregation) : {}),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
};

function sharedFields(aggregation: Aggregation): Status {
  const [first = {}, ...others] = statusesOf(aggregation);
  const shared = Object.entries(first).filter(([field, value]) => {
    if (MERGED.has(field)) return false;
    if (others.length === 0) return true;
    const same = others.every((status) => deepEqual(status?.[field], value));
    return same && (typeof value === 'string' || typeof value === 'boolean');
  });
  return Object.fromEntries(shared);
}
