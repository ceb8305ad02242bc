import {
  JsonPatchedDocument,
  type JsonPatchOperation,
  type KubeObject,
  StatusError,
  type Steps,
} from '@asterism/machinery';

/** What an overrider makes of an object. */
export interface OverrideStep {
  object: KubeObject;
  /** What it found nothing to change in, and why: the rest applies. */
  noEffect: string[];
  /** Why something cannot be done: the object must not be delivered. Of a run of operations: by operation, why it cannot be applied. */
  failed: (string | undefined)[];
}

/** A JSON value as it became, or in words why it cannot. No message quotes a value: it may be a Secret's. */
export type Change = { value: unknown } | { fault: string };

export const noEffect = (object: KubeObject, ...why: string[]): OverrideStep => ({ object, noEffect: why, failed: [] });
export const failed = (object: KubeObject, ...why: string[]): OverrideStep => ({ object, noEffect: [], failed: why });

export function changed(object: KubeObject, change: Change): OverrideStep {
  if ('fault' in change) return failed(object, change.fault);
  return { object: change.value as KubeObject, noEffect: [], failed: [] };
}

/** Operations that are applied in one step. */
const OPERATIONS_OF_STEP = 500;

/** The document after a JSON patch. */
export function* patch(document: unknown, operations: readonly JsonPatchOperation[]): Steps<Change> {
  try {
    const patched = new JsonPatchedDocument(document);
    for (const [index, operation] of operations.entries()) {
      if (index % OPERATIONS_OF_STEP === 0) yield;
      yield* patched.prepare(operation);
      patched.apply(operation);
    }
    return { value: patched.value };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { fault: faultOf(error) };
  }
}

/** Why an operation of a JSON patch was refused. */
export function faultOf(error: StatusError): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
