import type { ApiCall } from './api-call.ts';
import { writeOptionsObject } from './operation-options.ts';
import type { WriteOptions } from './write-options.ts';

/** What the registry needs to know of a write besides its object. */
export function writeContext(call: ApiCall, options: WriteOptions, strictErrors: readonly string[]) {
  return {
    user: call.user,
    dryRun: options.dryRun,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    strictErrors,
    options: (operation: string) => writeOptionsObject(call.request.query, operation),
    ...talk(call),
  };
}

/** How a write speaks to its client and to the audit log, and learns that the client has gone. */
export function talk({ audit, request, warn }: ApiCall) {
  return {
    warn: (text: string) => warn(text),
    annotate: (key: string, value: string) => audit?.annotate(key, value),
    signal: request.signal,
  };
}
