import type { KubeObject } from '@asterism/machinery';
import Type from 'typebox';
import { Conditions, Foreign, StringMap } from './parts.ts';
import { ConflictResolution } from './propagation-policy.ts';

/** A whole object, exactly as it shall stand in the member. */
const Manifest = Type.Unsafe<KubeObject>({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-embedded-resource': true,
});

export const WorkSpec = Type.Object({
  manifests: Type.Array(Manifest, { description: 'Whole objects, exactly as they shall stand in the member' }),
  conflictResolution: Type.Optional(ConflictResolution),
  preserveResourcesOnDeletion: Type.Optional(Type.Boolean()),
  namespaceLabels: Type.Optional({
    ...StringMap,
    description:
      'Labels pod-security.kubernetes.io/… of the Namespace in the hub. A Namespace that the executor creates for the objects gets them',
  }),
  suspendDispatching: Type.Optional(
    Type.Boolean({
      description:
        'Nothing is written to the cluster, status is still reported; the deletion of the Work is carried out all the same',
    }),
  ),
});

export const ManifestStatus = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  applied: Type.Boolean({ description: 'Whether it stands there as it shall' }),
  message: Type.Optional(Type.String({ description: 'Why not' })),
  health: Type.Optional(Type.Enum(['Healthy', 'Unhealthy', 'Unknown'])),
  /** The generation of the Work from which this was last applied. */
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  /** The generation of the member's object, against which `status.observedGeneration` is to be read. */
  generation: Type.Optional(Type.Integer({ format: 'int64' })),
  status: Type.Optional(Foreign),
});

export const WorkStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
  manifestStatuses: Type.Optional(Type.Array(ManifestStatus, { description: 'What became of each manifest' })),
});
