import { type IdentityLimits, isUndecidedRequest, requesterOf } from '@asterism/apiserver';
import { ADMINS_GROUP } from '@asterism/fleet/api';
import type { KubeObject } from '@asterism/machinery';

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What one user may store of the kinds that an agent or an unapproved bootstrap token may create: so none of them fills the disk of
 * the hub. A token with which a thousand clusters join at once stays below.
 */
export const IDENTITY_LIMITS: IdentityLimits = {
  annotation: 'asterism.dev/created-by',
  exemptGroups: [ADMINS_GROUP],
  limits: [
    {
      resources: ['certificatesigningrequests.certificates.k8s.io'],
      objectBytes: 64 * KIB,
      totalBytes: 16 * MIB,
      objects: 200,
      counts: isUndecidedRequest,
      ownerOf: requesterOf,
    },
    {
      resources: ['clusterregistrations.asterism.dev'],
      objectBytes: 64 * KIB,
      totalBytes: 16 * MIB,
      objects: 200,
      counts: ({ status }: KubeObject) => (status as { decision?: string } | undefined)?.decision === undefined,
    },
    {
      resources: ['events', 'events.events.k8s.io'],
      objectBytes: 16 * KIB,
      totalBytes: 16 * MIB,
      objects: 5_000,
    },
  ],
};
