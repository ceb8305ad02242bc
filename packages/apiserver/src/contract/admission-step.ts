import type { KubeObject } from '@asterism/machinery';
import type { ServedResource } from './served-resource.ts';
import type { UserInfo } from './user-info.ts';

/** What an admission step sees of a write, after defaulting and before validation. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  resource: ServedResource;
  subresource: string | undefined;
  namespace: string | undefined;
  name: string;
  /** Undefined for DELETE. */
  object: KubeObject | undefined;
  /** Undefined for CREATE. */
  oldObject: KubeObject | undefined;
  user: UserInfo;
  dryRun: boolean;
  warn(text: string): void;
}

/**
 * When a step has its say:
 *
 * - `mutate`: before mutating webhooks, and again where they changed the object, as upstream's plugins that admit;
 * - `check`: after them, on what is about to be stored, as upstream's checks in storage (escalation);
 * - `validate`: after the kind's own validation, as upstream's plugins that validate (quota). What it returns is not looked at.
 */
export type AdmissionPhase = 'mutate' | 'check' | 'validate';

/**
 * A step between authorization and storage: escalation checks of RBAC, defaults of a cluster, quota. Returns the object to store
 * (the same one where it changes nothing) or rejects with the `StatusError` of its refusal.
 */
export interface AdmissionStep {
  /** Default `mutate`. */
  phase?: AdmissionPhase;
  admit(request: AdmissionRequest): Promise<KubeObject | undefined>;
}
