import { StringDecoder } from 'node:string_decoder';
import { escapeControls } from '@asterism/machinery';

/**
 * A log as a screen may show it. Lines may end with CR LF; bytes that are not UTF-8 become U+FFFD. A character or a line end that two
 * pieces share is put together.
 */
export async function* escapeLog(log: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new StringDecoder('utf8');
  /** A CR at the end of a piece, or half of a surrogate pair, belongs to what follows. */
  let held = '';
  const shown = (text: string): string => escapeControls(text.replaceAll('\r\n', '\n'));
  for await (const piece of log) {
    const text = held + decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    held = /[\r\udb40]$/.exec(text)?.[0] ?? '';
    const whole = held === '' ? text : text.slice(0, -1);
    if (whole !== '') yield shown(whole);
  }
  const rest = held + decoder.end();
  if (rest !== '') yield shown(rest);
}
