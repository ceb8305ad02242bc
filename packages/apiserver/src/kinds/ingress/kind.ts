import type { KubeObject } from '@asterism/machinery';
import { optionalFields } from '../fields/draft-fields.ts';
import { allowsAnyWildcardRule, hasBadSecretName, validateIngressSpec } from './validation.ts';
import { validateLoadBalancerStatus } from '../load-balancer/validate-load-balancer.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

export const ingressKind: Kind = {
  groupResource: 'ingresses.networking.k8s.io',
  strategy: {
    generation: 'spec',
    metadataChecks: 4,

    validateCreate(object) {
      const faults = validateIngressSpec(optionalFields(object, 'spec') ?? {}, {});
      const annotation = object.metadata?.annotations?.[CLASS_ANNOTATION];
      const className = optionalFields(object, 'spec')?.ingressClassName;
      if (annotation !== undefined && typeof className === 'string' && annotation !== className) {
        const detail = 'must match `ingressClassName` when both are specified';
        faults.push(invalidValue(`annotations.${CLASS_ANNOTATION}`, annotation, detail));
      }
      return faults;
    },

    // A value that an older server accepted may stay.
    validateUpdate: (object, old) =>
      validateIngressSpec(optionalFields(object, 'spec') ?? {}, {
        anySecretName: hasBadSecretName(optionalFields(old, 'spec')),
        anyWildcardRule: allowsAnyWildcardRule(optionalFields(old, 'spec')),
      }),

    validateStatus: (object, old) =>
      validateLoadBalancerStatus(balancerOf(object) ?? {}, balancerOf(old), {
        at: 'status.loadBalancer',
        modes: false,
      }),

    warnings({ metadata }, old) {
      if (old || metadata?.annotations?.[CLASS_ANNOTATION] === undefined) return [];
      return [
        `annotation ${JSON.stringify(CLASS_ANNOTATION)} is deprecated, please use 'spec.ingressClassName' instead`,
      ];
    },
  },
};

function balancerOf(object: KubeObject): Record<string, unknown> | undefined {
  return optionalFields(optionalFields(object, 'status'), 'loadBalancer');
}
