import type { RequestFault } from './fault.ts';

/** Throws a `TypeError` where a fault could not happen as it is described. */
export function checkFault(fault: RequestFault): void {
  if (fault.kind === 'status' || fault.kind === 'error-event') {
    const { code, retryAfterSeconds = 0 } = fault;
    if (!Number.isInteger(code) || code < 400 || code > 599) {
      throw new TypeError(`\`code\` of a fault is an HTTP status from 400 to 599, not ${code}`);
    }
    if (!Number.isInteger(retryAfterSeconds) || retryAfterSeconds < 0) {
      throw new TypeError(`\`retryAfterSeconds\` of a fault is a whole number, not ${retryAfterSeconds}`);
    }
  }
  if (fault.kind === 'slow-reader' && !(fault.bytesPerSecond > 0)) {
    throw new TypeError(
      `\`bytesPerSecond\` of a slow reader is above 0, not ${fault.bytesPerSecond}; or is it \`silence\`?`,
    );
  }
}
