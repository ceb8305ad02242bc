import { type KubeObject, parseQuantity } from '@asterism/machinery';
import type { Amounts } from '../pod-amounts.ts';
import type { AdmissionRequest } from '../../contract/admission-step.ts';

/** One requirement of a quota's scopes. */
export interface ScopeRequirement {
  scopeName: string;
  operator: string;
  values: readonly string[];
}

export type WriteKind = Pick<AdmissionRequest, 'operation' | 'subresource'>;

/** How quotas measure objects of one resource. */
export interface UsageRule {
  /** Whether a write can change how much is used. */
  isCharged(write: WriteKind): boolean;
  /** Whether the bound of this name is on objects of the resource. */
  measures(name: string): boolean;
  /** How much the object uses of everything that can be bounded. */
  usageOf(object: KubeObject, now: number): Amounts;
  isInScope(object: KubeObject, requirement: ScopeRequirement): boolean;
  /** Why the object cannot be measured by bounds of these names; undefined where it can. */
  faultOf?(object: KubeObject, names: readonly string[]): string | undefined;
}

export const ONE = parseQuantity('1');

export function isCreated({ operation, subresource }: WriteKind): boolean {
  return operation === 'CREATE' && subresource === undefined;
}
