import type { KubeObject } from '@asterism/machinery';
import { numberAt, optionalFields } from '../fields/draft-fields.ts';
import type { Draft } from '../../contract/strategy.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

export const leaseKind: Kind = {
  groupResource: 'leases.coordination.k8s.io',
  strategy: {
    createOnUpdate: true,
    requiresResourceVersion: true,
    prepareForCreate: (draft) => dropCoordination(draft, undefined),
    prepareForUpdate: dropCoordination,

    validate(object) {
      const spec = optionalFields(object, 'spec');
      const duration = numberAt(spec, 'leaseDurationSeconds');
      const transitions = numberAt(spec, 'leaseTransitions');
      return [
        ...(duration !== undefined && duration <= 0
          ? [invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
          : []),
        ...(transitions !== undefined && transitions < 0
          ? [invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
          : []),
      ];
    },
  },
};

/** Fields of a feature that is off by default (`CoordinatedLeaderElection`). */
function dropCoordination(draft: Draft, old: KubeObject | undefined): void {
  const spec = optionalFields(draft, 'spec');
  const before = optionalFields(old, 'spec');
  if (!spec || before?.strategy !== undefined || before?.preferredHolder !== undefined) return;
  delete spec.strategy;
  delete spec.preferredHolder;
}
