import { forbidden, type StatusError } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';

/**
 * What one of upstream's admission plugins does with writes of some resources. Throws the `StatusError` of its refusal.
 * https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/
 */
export interface AdmissionPlugin {
  /** As `pods` or `ingresses.networking.k8s.io`. */
  readonly resources: readonly string[];
  /** Changes the object of the request in place. */
  mutate?(request: AdmissionRequest): void | Promise<void>;
  /** Looks at the object that is about to be stored. */
  validate?(request: AdmissionRequest): void | Promise<void>;
}

/** What plugins know besides the request. */
export interface PluginContext {
  store: ObjectStore;
  /** In [0, 1). */
  random: () => number;
}

/** 403, as upstream's `admission.NewForbidden`: before a name is generated, what it will begin with stands for it. */
export function refusal({ resource, name, object }: AdmissionRequest, why: string): StatusError {
  return forbidden(resource.type, name || (object?.metadata?.generateName ?? 'Unknown'), why);
}

/** Whether a new object as a whole is written. */
export function isCreation({ operation, subresource }: AdmissionRequest): boolean {
  return operation === 'CREATE' && subresource === undefined;
}
