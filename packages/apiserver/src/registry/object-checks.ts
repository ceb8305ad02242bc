import { deepEqual, type FieldError, formatGroupResource, invalid, type KubeObject } from '@asterism/machinery';
import type { AdmissionStep } from '../contract/admission-step.ts';

/** What objects of one resource must fulfil beyond what a schema can say. */
export interface ObjectCheck {
  /** As `widgets.example.com`. */
  resource: string;
  /** Of writes to this subresource alone. Absent: of writes to the object itself. */
  subresource?: string | undefined;
  /** What is wrong with the object, field by field; nothing where it may be stored. */
  faults(object: KubeObject): FieldError[];
}

/** Refuses with 422 what brings a fault in. An object that has had it before may be changed in all else. */
export function createObjectChecks(checks: readonly ObjectCheck[]): AdmissionStep {
  const byResource = Map.groupBy(checks, ({ resource }) => resource);
  return {
    phase: 'validate',
    admit: async ({ resource: { type }, subresource, object, oldObject, name }) => {
      const own = byResource.get(formatGroupResource(type))?.filter((check) => check.subresource === subresource);
      if (!own?.length || !object) return object;
      const faultsOf = (each: KubeObject): FieldError[] => own.flatMap(({ faults }) => faults(each));
      const before = oldObject ? faultsOf(oldObject) : [];
      const faults = faultsOf(object).filter((fault) => !before.some((known) => deepEqual(known, fault)));
      if (faults.length > 0) throw invalid(type, name || (object.metadata?.name ?? ''), faults);
      return object;
    },
  };
}
