import { isUtf8 } from 'node:buffer';

/** Text that is the same in every encoding of a header. */
const ASCII = /^[\x20-\x7e]*$/;

/** Text as the value of a header: its UTF-8 bytes, one character each, as Node sends and receives them. */
export function encodeHeaderText(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** A header's value as text. Kubernetes' servers and clients write UTF-8; undefined where the bytes are not. */
export function decodeHeaderText(value: string): string | undefined {
  if (ASCII.test(value)) return value;
  // A character above U+00FF is no byte: the value was never encoded.
  if (/[^\0-\xff]/.test(value)) return undefined;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/**
 * Whether a header can be sent as it is. Of a value with a character above U+00FF, HTTP/2 would send another character; of a
 * malformed one, receivers drop the whole header in silence.
 */
export function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
