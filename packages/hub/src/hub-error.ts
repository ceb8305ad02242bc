/**
 * - `DataDirUnusable`: it cannot be made, read or written.
 * - `DataDirLocked`: another hub runs on it.
 * - `DatabaseCorrupt`: SQLite does not recognise `hub.db` or `search.db`.
 * - `AddressInUse`, `AddressUnusable`: another program listens there; this machine has no such address, or not for us.
 * - `ClockOff`: the hub's own certificates are not valid yet by this machine's clock.
 * - `KeysUnusable`: a file below `pki/` is damaged, or was made by another authority, or has run out.
 * - `AddressNeeded`: the hub listens on every address, and nobody said at which the host reaches it.
 * - `HostUnusable`: the kube-apiserver is not the one that the kubeconfig means, or the credentials in there are of no use.
 * - `HostRefuses`: the kube-apiserver does not know the hub's identity, or does not let it do what it must.
 * - `BackupUnusable`: a backup cannot be made there, or what is there is not a whole one.
 * - `TemplatesElsewhere`: the fleet's templates live in another store than this hub would look in.
 * - `AuditUnusable`: the policy of the audit log is not valid, or its file cannot be written.
 */
export type HubErrorCode =
  | 'DataDirUnusable'
  | 'DataDirLocked'
  | 'DatabaseCorrupt'
  | 'AddressInUse'
  | 'AddressUnusable'
  | 'ClockOff'
  | 'KeysUnusable'
  | 'AddressNeeded'
  | 'HostUnusable'
  | 'HostRefuses'
  | 'BackupUnusable'
  | 'TemplatesElsewhere'
  | 'AuditUnusable';

/** Why a hub did not start. The message says what, where and what to do. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: HubErrorCode;

  constructor(code: HubErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
