const NEWLINE = 10;

/** Hands on whole lines alone, so that those of several writers are never mixed, each behind a prefix. A last one gets its end. */
export async function* prefixLines(log: AsyncIterable<Uint8Array>, prefix: string): AsyncIterable<Buffer> {
  const begin = Buffer.from(prefix);
  /** Pieces of a line that has not ended. */
  let begun: Buffer[] = [];
  for await (const piece of log) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      lines.push(begin, ...begun, bytes.subarray(from, end + 1));
      begun = [];
      from = end + 1;
    }
    if (from < bytes.length) begun.push(bytes.subarray(from));
    if (lines.length > 0) yield Buffer.concat(lines);
  }
  if (begun.length > 0) yield Buffer.concat([begin, ...begun, Buffer.of(NEWLINE)]);
}
