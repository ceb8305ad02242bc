/** Formats milliseconds since 1970 as a `metav1.Time`: RFC 3339 in UTC, in whole seconds. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Formats milliseconds since 1970 as a `metav1.MicroTime`: RFC 3339 in UTC, with six digits of a second. */
export function formatMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
