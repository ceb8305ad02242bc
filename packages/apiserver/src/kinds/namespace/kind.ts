import { type FieldError, type KubeObject, validateDns1123Label, validateQualifiedName } from '@asterism/machinery';
import { optionalFields, textsAt } from '../fields/draft-fields.ts';
import type { Draft, StrategyContext } from '../../contract/strategy.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

/** The finalizer of a namespace's contents, in `spec`, not in metadata. */
const CONTENTS_FINALIZER = 'kubernetes';
const STANDARD_FINALIZERS = [CONTENTS_FINALIZER, 'orphan', 'foregroundDeletion'];
/** Every cluster has these namespaces. */
const PERMANENT = ['default', 'kube-system', 'kube-public'];
const NAME_LABEL = 'kubernetes.io/metadata.name';

export const namespaceKind: Kind = {
  groupResource: 'namespaces',
  strategy: {
    validateName: validateDns1123Label,
    selectableFields: { 'status.phase': (object) => phaseOf(object) },

    applyDefaults: labelWithName,

    prepareForCreate(draft) {
      // A generated name was not there yet when defaults were.
      labelWithName(draft);
      const finalizers = (draft.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
      draft.spec = {
        finalizers: finalizers.includes(CONTENTS_FINALIZER) ? finalizers : [...finalizers, CONTENTS_FINALIZER],
      };
      draft.status = { phase: 'Active' };
    },

    prepareForUpdate(draft, old) {
      draft.spec = old.spec;
    },

    parts: {
      /** `namespaces/finalize`: the only way to take a finalizer off the contents. */
      finalize(draft, old) {
        const { finalizers } = (draft.spec as { finalizers?: string[] } | undefined) ?? {};
        return { ...old, metadata: draft.metadata, spec: finalizers?.length ? { finalizers } : {} };
      },
    },

    validateCreate: (object) => validateFinalizers(object, () => 'spec.finalizers'),

    // Of the endpoint `finalize` too, which alone can change them.
    validateUpdate: (object, old) =>
      new Set(textsAt(optionalFields(object, 'spec'), 'finalizers')).isSubsetOf(
        new Set(textsAt(optionalFields(old, 'spec'), 'finalizers')),
      )
        ? []
        : validateFinalizers(object, (index) => `spec.finalizers[${index}]`),

    validateStatus(object) {
      const phase = phaseOf(object);
      const deleting = object.metadata?.deletionTimestamp !== undefined;
      if (phase === (deleting ? 'Terminating' : 'Active')) return [];
      const detail = deleting
        ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
        : "may only be 'Active' if `deletionTimestamp` is empty";
      return [invalidValue('status.Phase', phase, detail)];
    },

    refuseDeletion: (name) => (PERMANENT.includes(name) ? 'this namespace may not be deleted' : undefined),
    isDeletionComplete: (object) => textsAt(optionalFields(object, 'spec'), 'finalizers').length === 0,

    markDeletion(draft: Draft, { now }: StrategyContext) {
      if (draft.metadata.deletionTimestamp) {
        return textsAt(optionalFields(draft, 'spec'), 'finalizers').length > 0 ? 'unchanged' : 'usual';
      }
      draft.metadata.deletionTimestamp = now;
      draft.status = { ...(draft.status as object | undefined), phase: 'Terminating' };
      return 'marked';
    },
  },
};

function labelWithName({ metadata }: Draft): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}

function phaseOf({ status }: KubeObject): string {
  return (status as { phase?: string } | undefined)?.phase ?? '';
}

function validateFinalizers(object: KubeObject, at: (index: number) => string): FieldError[] {
  return textsAt(optionalFields(object, 'spec'), 'finalizers').flatMap((finalizer, index) => {
    const faults = validateQualifiedName(finalizer);
    if (!finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer))
      faults.push('name is neither a standard finalizer name nor is it fully qualified');
    return faults.map((fault) => invalidValue(at(index), finalizer, fault));
  });
}
