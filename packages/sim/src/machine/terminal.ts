import { Pipe, type Sink } from './byte-stream.ts';

const [INTERRUPT, END, BACKSPACE, NEWLINE, RETURN, KILL_LINE, DELETE] = [3, 4, 8, 10, 13, 21, 127];
const MAX_LINE = 4095;

/**
 * The line discipline between a user and the processes: echo, one line at a time with backspace and `^U`, `^C` as an
 * interrupt, `^D` as the end of the input, and `\r\n` for every `\n` that a process writes.
 */
export class Terminal {
  size = { columns: 80, rows: 24 };
  echo = true;
  /** The processes read from it. */
  readonly input: TerminalInput;
  /** The processes write to it. */
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
      put: (chunk) => outer.put(Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll('\n', '\r\n'), 'latin1')),
      end: () => undefined,
    };
  }

  /** Takes what the user types. */
  receive(bytes: Uint8Array): void {
    for (const byte of bytes) this.#type(byte);
  }

  /** The user is gone. */
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
        return this.#erase();
      case KILL_LINE:
        while (this.#line.length > 0) this.#erase();
        return;
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

  /** Removes the last character, which has several bytes in UTF-8. */
  #erase(): void {
    if (this.#line.length === 0) return;
    let byte = this.#line.pop();
    while (byte !== undefined && byte >= 0x80 && byte < 0xc0) byte = this.#line.pop();
    this.#show('\b \b');
  }

  #flush(): void {
    if (this.#line.length > 0) this.input.put(Uint8Array.from(this.#line));
    this.#line = [];
  }

  #show(what: Uint8Array | string): void {
    if (!this.echo) return;
    try {
      this.#outer.put(Buffer.from(what));
    } catch {
      // nobody reads the output, and the input goes on
    }
  }
}

/** The input of a terminal: `^D` is the end for one reader only. */
class TerminalInput extends Pipe {
  #ends = 0;

  endOnce(): void {
    this.#ends += 1;
    this.notice.fire();
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
