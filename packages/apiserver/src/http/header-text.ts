import { isUtf8 } from 'node:buffer';

/** A header's value as text. Node gives one character a byte; Kubernetes' servers and clients write UTF-8. */
export function decodeHeaderText(value: string): string {
  // Anything above U+00FF did not come over a wire.
  if (!/[\u0080-\u00ff]/.test(value) || /[\u0100-\uffff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

/** Text as the value of a header: its UTF-8 bytes, one character each. */
export function encodeHeaderText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
