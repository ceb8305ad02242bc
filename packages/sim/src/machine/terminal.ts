import { Pipe, type Sink } from './byte-stream.ts';

const [INTERRUPT, END, BACKSPACE, NEWLINE, RETURN, KILL_WORD, KILL_LINE, DELETE] = [3, 4, 8, 10, 13, 23, 21, 127];

/** Of what is typed in one line, so much is taken. */
const MAX_LINE = 4095;

export interface TerminalSize {
  columns: number;
  rows: number;
}

/**
 * The line discipline of a terminal, between who types and the processes: echo, a line at a time with backspace, `^W` and `^U`,
 * `^C` as an interrupt and `^D` as the end (canonical mode), and `\r\n` for every `\n` that is written.
 */
export class Terminal {
  size: TerminalSize = { columns: 80, rows: 24 };
  echo = true;
  /** Bytes go through as they are typed: no lines, no signals. */
  raw = false;
  /** What the processes read. */
  readonly input: TerminalInput;
  /** What the processes write. */
  readonly output: Sink;
  readonly #outer: Sink;
  readonly #interrupt: () => void;
  #line: number[] = [];

  constructor(outer: Sink, interrupt: () => void) {
    this.#outer = outer;
    this.#interrupt = interrupt;
    this.input = new TerminalInput(this);
    this.output = {
      terminal: this,
      room: () => outer.room(),
      put: (chunk) => outer.put(this.raw ? chunk : withReturns(chunk)),
      end: () => undefined,
    };
  }

  /** What is typed. */
  receive(bytes: Uint8Array): void {
    if (this.raw) {
      this.#show(bytes);
      return this.input.put(bytes);
    }
    for (const byte of bytes) this.#type(byte);
  }

  /** Nobody types any more. */
  hangUp(): void {
    this.#flush();
    this.input.end();
  }

  #type(byte: number): void {
    switch (byte) {
      case INTERRUPT:
        this.#line = [];
        this.#show('^C');
        return this.#interrupt();
      case END:
        return this.#line.length > 0 ? this.#flush() : this.input.endOnce();
      case BACKSPACE:
      case DELETE:
        return this.#erase(1);
      case KILL_LINE:
        return this.#erase(this.#line.length);
      case KILL_WORD:
        return this.#erase(lastWordLength(Buffer.from(this.#line).toString('latin1')));
      case RETURN:
      case NEWLINE:
        this.#line.push(NEWLINE);
        this.#show('\r\n');
        return this.#flush();
      default:
        if (this.#line.length >= MAX_LINE) return;
        this.#line.push(byte);
        this.#show(Uint8Array.of(byte));
    }
  }

  #erase(count: number): void {
    for (let left = Math.min(count, this.#line.length); left > 0; left -= 1) {
      let byte = this.#line.pop();
      while (byte !== undefined && byte >= 0x80 && byte < 0xc0) byte = this.#line.pop();
      this.#show('\b \b');
    }
  }

  #flush(): void {
    const line = Uint8Array.from(this.#line);
    this.#line = [];
    if (line.length > 0) this.input.put(line);
  }

  #show(what: Uint8Array | string): void {
    if (!this.echo) return;
    try {
      this.#outer.put(Buffer.from(what));
    } catch {
      // nobody looks any more, and the input goes on
    }
  }
}

/** The input of a terminal, in which `^D` is an end for one reader and no more. */
class TerminalInput extends Pipe {
  #ends = 0;

  endOnce(): void {
    this.#ends += 1;
    this.wake();
  }

  override ready(): Promise<void> | undefined {
    return this.#ends > 0 ? undefined : super.ready();
  }

  override take(): Uint8Array | undefined {
    const chunk = super.take();
    if (!chunk && this.#ends > 0) this.#ends -= 1;
    return chunk;
  }
}

function withReturns(chunk: Uint8Array): Uint8Array {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return bytes.includes(NEWLINE) ? Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1') : chunk;
}

/** The length of the last word and of the blanks behind it. */
function lastWordLength(line: string): number {
  let start = line.trimEnd().length;
  while (start > 0 && line[start - 1]?.trim() !== '') start -= 1;
  return line.length - start;
}
