/** Milliseconds since the epoch as a `metav1.MicroTime`: RFC 3339 in UTC with six digits of a second. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
