import type { Strategy } from '../strategy.ts';

export const volumeAttachmentStrategy: Strategy = {
  resetFields: { status: [['spec'], ['metadata']] },
  parts: {
    status: (draft, old) => ({
      ...old,
      metadata: { ...old.metadata, ...managed(draft.metadata) },
      status: draft.status,
    }),
  },
};

function managed({ managedFields }: { managedFields?: object[] }): object {
  return managedFields ? { managedFields } : {};
}
