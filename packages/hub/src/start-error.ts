import { HubError } from './hub-error.ts';

/** What a failure of the start means for whoever started the hub. Errors that are not about the surroundings stay as they are. */
export function startError(
  error: unknown,
  where: { host: string; port: number; dataDir: string; flag?: '--listen' | '--status-listen' },
): unknown {
  if (error instanceof HubError || !(error instanceof Error) || !('code' in error)) return error;
  const { flag = '--listen' } = where;
  const address = `${where.host}:${where.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new HubError(
        'AddressInUse',
        `another program listens on ${address}: stop it, or choose another address with ${flag}`,
        error,
      );
    case 'EACCES':
      if (!('syscall' in error) || error.syscall !== 'listen') return error;
      return new HubError(
        'AddressUnusable',
        `this user may not listen on ${address}: choose a port above 1023 with ${flag}`,
        error,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new HubError(
        'AddressUnusable',
        `this machine has no address ${where.host}: choose one that it has with ${flag}`,
        error,
      );
    case 'CORRUPT':
    case 'FOREIGN':
    case 'NEWER':
    case 'NEWER_SCHEMA':
      return new HubError('DatabaseCorrupt', error.message, error);
    case 'AUDIT_POLICY':
    case 'AUDIT_LOG':
      return new HubError('AuditUnusable', error.message, error);
    case 'LOCKED':
      return new HubError('DataDirLocked', error.message, error);
    case 'UNAVAILABLE':
    case 'NO_ACCESS':
    case 'FULL':
    case 'NO_SPACE':
      return new HubError('DataDirUnusable', error.message, error);
    default:
      return error;
  }
}
