import type { Conversion } from './conversion.ts';
import type { Strategy } from './strategy.ts';

/** A built-in kind with rules of its own. */
export interface Kind {
  /** The group and the resource under which its objects are stored: `deployments.apps`. */
  groupResource: string;
  strategy: Strategy;
  /** Served versions that differ from the stored form, by `apiVersion`. */
  conversions?: Readonly<Record<string, Conversion>>;
  legacyVersions?: readonly LegacyVersion[];
  /** The text of a `Warning` header in every answer: the kind is deprecated. */
  warning?: string;
}

/** A version that Kubernetes 1.36 no longer serves and that clients of 1.20 need. */
export interface LegacyVersion {
  group: string;
  version: string;
  /** Absent: the fields are those of today's version. */
  conversion?: Conversion;
  /** Fields have other names or places: the rules of the kind apply to the stored form. */
  otherShape?: boolean;
  /** Set where a DELETE by this version differs from one by today's version. */
  defaultPropagation?: 'Orphan';
  /** The release that deprecated it, and the release that removed it. */
  deprecated: string;
  removed: string;
}
