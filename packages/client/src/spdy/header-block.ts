import { headerDictionary } from './header-dictionary.ts';
import { SpdyProtocolError } from './spdy-frames.ts';

/** Header names in lower case; several values of one are joined by NUL on the wire and by a comma here. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** Of one block, decompressed. */
const MAX_BLOCK_BYTES = 64 * 1024;

/** Reads the header blocks of one direction of a connection: one compressed stream, so each has to be read, in order. */
export class HeaderReader {
  readonly #inflate = process.getBuiltinModule('node:zlib').createInflate({ dictionary: headerDictionary() });

  /** Rejects with {@link SpdyProtocolError}. */
  async read(block: Buffer): Promise<SpdyHeaders> {
    const pieces: Buffer[] = [];
    let length = 0;
    await new Promise<void>((resolve, reject) => {
      const onError = (): void => reject(new SpdyProtocolError('headers that do not decompress'));
      const onData = (piece: Buffer): void => {
        length += piece.length;
        if (length > MAX_BLOCK_BYTES) {
          reject(new SpdyProtocolError(`headers of more than ${MAX_BLOCK_BYTES} bytes`));
          this.close();
        } else pieces.push(piece);
      };
      this.#inflate.on('data', onData).on('error', onError);
      this.#inflate.write(block, () => {
        this.#inflate.off('data', onData).off('error', onError);
        resolve();
      });
    });
    return decode(Buffer.concat(pieces));
  }

  close(): void {
    this.#inflate.on('error', () => {}).destroy();
  }
}

function decode(block: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw new SpdyProtocolError('headers that end too early');
    const value = block.readUInt32BE(at);
    at += 4;
    return value;
  };
  const text = (): string => {
    const length = number();
    if (at + length > block.length) throw new SpdyProtocolError('headers that end too early');
    at += length;
    return block.toString('latin1', at - length, at);
  };
  for (let left = number(); left > 0; left--) {
    const name = text().toLowerCase();
    if (name === '') throw new SpdyProtocolError('a header without a name');
    headers.set(name, text().replaceAll('\0', ','));
  }
  return headers;
}

const MAX_STORED_BYTES = 0xffff;
/** A zlib header that names a dictionary, and the Adler-32 of SPDY/3's. */
const PREFIX = Buffer.from('7820e3c6a7c2', 'hex');

/**
 * Writes the header blocks of one direction. They are a dozen bytes each: stored, not compressed, they need no state of 256 KB
 * for each connection.
 */
export class HeaderWriter {
  #started = false;

  write(headers: SpdyHeaders): Buffer {
    const bytes = encode(headers);
    const pieces: Buffer[] = this.#started ? [] : [PREFIX];
    this.#started = true;
    for (let at = 0; at < bytes.length; at += MAX_STORED_BYTES) {
      pieces.push(stored(bytes.subarray(at, at + MAX_STORED_BYTES)));
    }
    // An empty block is what makes decompressors hand out what they have.
    return Buffer.concat([...pieces, stored(Buffer.alloc(0))]);
  }
}

function stored(bytes: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt16LE(bytes.length, 1);
  header.writeUInt16LE(0xffff - bytes.length, 3);
  return Buffer.concat([header, bytes]);
}

function encode(headers: SpdyHeaders): Buffer {
  const pieces: Buffer[] = [];
  const number = (value: number): void => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    pieces.push(bytes);
  };
  number(headers.size);
  for (const pair of headers) {
    for (const text of pair) {
      const bytes = Buffer.from(text, 'latin1');
      number(bytes.length);
      pieces.push(bytes);
    }
  }
  return Buffer.concat(pieces);
}
