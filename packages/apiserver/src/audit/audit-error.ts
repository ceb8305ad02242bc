/** `AUDIT_POLICY`: it is not a policy, or not a valid one. `AUDIT_LOG`: the file cannot be written. */
export type AuditErrorCode = 'AUDIT_POLICY' | 'AUDIT_LOG';

/** Why a server with an audit log did not start. The message says what, where and why. */
export class AuditError extends Error {
  override readonly name = 'AuditError';
  readonly code: AuditErrorCode;

  constructor(code: AuditErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
