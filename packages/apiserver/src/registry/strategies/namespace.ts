import { type KubeObject, validateDns1123Label } from '@asterism/machinery';
import type { Draft, Strategy, StrategyContext } from '../strategy.ts';

/** The finalizer of a namespace's contents, in `spec`, not in metadata. */
const CONTENTS_FINALIZER = 'kubernetes';
const NAME_LABEL = 'kubernetes.io/metadata.name';

export const namespaceStrategy: Strategy = {
  validateName: validateDns1123Label,
  selectableFields: { 'status.phase': (object) => phaseOf(object) },

  applyDefaults(draft) {
    const { name } = draft.metadata;
    if (name) draft.metadata.labels = { ...draft.metadata.labels, [NAME_LABEL]: name };
  },

  prepareForCreate(draft) {
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

  markDeletion(draft: Draft, { now }: StrategyContext) {
    if (draft.metadata.deletionTimestamp) return false;
    draft.metadata.deletionTimestamp = now;
    draft.status = { ...(draft.status as object | undefined), phase: 'Terminating' };
    return true;
  },
};

function phaseOf({ status }: KubeObject): string {
  return (status as { phase?: string } | undefined)?.phase ?? '';
}
