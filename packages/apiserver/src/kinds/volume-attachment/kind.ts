import { validateInternalImmutable } from '../validation/immutable-field.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateAttachment } from './validation.ts';

export const volumeAttachmentKind: Kind = {
  groupResource: 'volumeattachments.storage.k8s.io',
  strategy: {
    requiresResourceVersion: true,
    returnsDeleted: true,
    resetFields: { status: [['spec'], ['metadata']] },
    parts: {
      status: (draft, old) => ({
        ...old,
        metadata: { ...old.metadata, ...managed(draft.metadata) },
        status: draft.status,
      }),
    },

    validateCreate: validateAttachment,
    validateUpdate: (object, old) => [
      ...validateAttachment(object),
      ...validateInternalImmutable(object, old, { at: '', key: 'spec', type: 'VolumeAttachmentSpec' }),
    ],
    validateStatus: (object) => validateAttachment(object),
  },
};

function managed({ managedFields }: { managedFields?: object[] }): object {
  return managedFields ? { managedFields } : {};
}
