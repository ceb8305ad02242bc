import type { Headers } from './api-request.ts';

/** A header's value; where it was sent more than once, the first, as Go's servers read it. */
export function firstHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
