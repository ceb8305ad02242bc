import type { GroupVersionKind, KubeObject } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { ServedVersion } from './served-version.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What webhooks are told of a request. */
export interface AdmissionAttributes {
  operation: Operation;
  resource: ServedVersion;
  /** '' for the object itself. */
  subresource: string;
  /** Of the object: of a subresource its own, e.g. `Scale`. */
  kind: GroupVersionKind;
  /** '' where only `generateName` is given. */
  name: string;
  /** Of a request for a Namespace its own name; '' for all else without a namespace. */
  namespace: string;
  /** Undefined for DELETE. */
  object: KubeObject | undefined;
  /** Undefined for CREATE and CONNECT. */
  oldObject: KubeObject | undefined;
  user: UserInfo;
  dryRun: boolean;
  /** `CreateOptions` and the like, as the client gave them. */
  options: KubeObject | undefined;
  warn(text: string): void;
  /** For the audit log. */
  annotate(key: string, value: string): void;
  signal: AbortSignal | undefined;
}
