import type { FieldError, KubeObject } from '@asterism/machinery';
import { GROUP } from '../api/index.ts';
import { selectorFaults } from './selector-faults.ts';

const POLICIES = ['propagationpolicies', 'clusterpropagationpolicies', 'overridepolicies', 'clusteroverridepolicies'];

/** What an API server that takes such checks refuses of policies: selectors that can select nothing. */
export const POLICY_CHECKS: readonly { resource: string; faults: (policy: KubeObject) => FieldError[] }[] =
  POLICIES.map((resource) => ({
    resource: `${resource}.${GROUP}`,
    faults: (policy) => selectorFaults(policy).map(({ fault }) => fault),
  }));
