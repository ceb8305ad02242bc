import type { KubeObject } from '@asterism/machinery';

/** How much one user may store of some kind, in number and bytes: see {@link IdentityLimits}. */
export interface IdentityLimit {
  /** As `certificatesigningrequests.certificates.k8s.io`; several where one kind is served in several groups. */
  resources: readonly [string, ...string[]];
  /** Bytes of one object as JSON. A larger one is refused (413). */
  objectBytes: number;
  /** Bytes of all objects of one user. A further one is refused (429). */
  totalBytes: number;
  /** Objects of one user that count by {@link counts}. A further one is refused (429). */
  objects: number;
  /** Which objects count as one of {@link objects}, say those that nobody has decided on. Default: all. */
  counts?: (object: KubeObject) => boolean;
  /** Who created an object, if the object says so in a field that users cannot write. Default: an annotation of the server. */
  ownerOf?: (object: KubeObject) => string | undefined;
}

/** The limits of an API server, and who they are for. */
export interface IdentityLimits {
  limits: readonly IdentityLimit[];
  /** Where the server notes who created an object. Nobody else can write it. */
  annotation: string;
  /** Users of these groups have no limits, as those of `system:masters`. */
  exemptGroups?: readonly string[];
}

/** Counts a CertificateSigningRequest while it is neither approved nor denied. */
export function isUndecidedRequest({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string }[] };
  return !conditions.some(({ type }) => type === 'Approved' || type === 'Denied');
}

/** The server itself writes who asks for a certificate. */
export function requesterOf({ spec }: KubeObject): string | undefined {
  return (spec as { username?: string } | undefined)?.username;
}
