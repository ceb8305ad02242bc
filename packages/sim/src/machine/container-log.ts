import type { Clock } from '@asterism/client';
import { Notice, type Sink } from './byte-stream.ts';
import type { LogOptions } from './container-runtime.ts';

const NEWLINE = 10;
/** A line that is longer is kept in parts, as containerd does. */
const MAX_LINE = 16 * 1024;
const MAX_BYTES = 10 * 1024 * 1024;
const ENTRY_OVERHEAD = 64;
const BATCH = 32 * 1024;

type Stream = 'Stdout' | 'Stderr';

interface Entry {
  readonly time: number;
  /** Nanoseconds after `time`, which has milliseconds: entries have an order. */
  readonly nanos: number;
  readonly stream: Stream;
  readonly line: Uint8Array;
}

/** What a container has written: the last 10 MiB of it, line by line. */
export class ContainerLog {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #notice = new Notice();
  readonly #partial: Record<Stream, Uint8Array[]> = { Stdout: [], Stderr: [] };
  /** By number: the first that is kept, and the one after the last. */
  readonly #entries = new Map<number, Entry>();
  #first = 0;
  #next = 0;
  #bytes = 0;
  #ended = false;

  constructor(clock: Clock, limit = MAX_BYTES) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** A stream of the container's; it never makes the container wait. */
  sink(stream: Stream): Sink {
    return { room: () => undefined, put: (chunk) => this.#put(stream, chunk), end: () => undefined };
  }

  /** Nothing more comes: followers end. */
  end(): void {
    for (const stream of ['Stdout', 'Stderr'] as const) this.#flush(stream);
    this.#ended = true;
    this.#notice.fire();
  }

  /** The log as a kubelet gives it. It is read only as fast as asked for; with `follow` it goes on until the end or the abort. */
  async *read(options: LogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let left = options.limitBytes ?? Infinity;
    let next = this.#firstOf(options);
    while (!signal.aborted) {
      next = Math.max(next, this.#first);
      const batch: Uint8Array[] = [];
      let size = 0;
      for (let entry = this.#entries.get(next); entry && size < BATCH; entry = this.#entries.get(next)) {
        next += 1;
        if (!isWanted(entry, options, this.#clock)) continue;
        const line = options.timestamps ? Buffer.concat([Buffer.from(`${timeOf(entry)} `), entry.line]) : entry.line;
        batch.push(line);
        size += line.length;
      }
      if (size > 0) {
        const chunk = Buffer.concat(batch).subarray(0, left);
        left -= chunk.length;
        yield chunk;
        if (left <= 0) return;
      } else if (!this.#entries.get(next)) {
        if (!options.follow || this.#ended) return;
        await this.#untilMore(signal);
      }
    }
  }

  async #untilMore(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#notice.fire();
    signal.addEventListener('abort', wake, { once: true });
    await this.#notice.wait();
    signal.removeEventListener('abort', wake);
  }

  #firstOf(options: LogOptions): number {
    if (options.tailLines === undefined) return this.#first;
    let first = this.#next;
    for (let count = 0; first > this.#first && count < options.tailLines; first -= 1) {
      const entry = this.#entries.get(first - 1);
      if (entry && isOfStream(entry, options)) count += 1;
    }
    return first;
  }

  #put(stream: Stream, chunk: Uint8Array): void {
    if (this.#ended) return;
    let from = 0;
    while (from < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, from);
      const held = this.#partial[stream].reduce((sum, part) => sum + part.length, 0);
      const end = Math.min(newline < 0 ? chunk.length : newline + 1, from + MAX_LINE - held);
      this.#partial[stream].push(chunk.subarray(from, end));
      if (end === newline + 1 || held + end - from >= MAX_LINE) this.#flush(stream);
      from = end;
    }
    this.#notice.fire();
  }

  #flush(stream: Stream): void {
    const parts = this.#partial[stream];
    if (parts.length === 0) return;
    this.#partial[stream] = [];
    const time = this.#clock.wall().getTime();
    const last = this.#entries.get(this.#next - 1);
    const nanos = last?.time === time ? Math.min(last.nanos + 1000, 999_999) : 0;
    const line = Uint8Array.from(Buffer.concat(parts));
    this.#entries.set(this.#next, { time, nanos, stream, line });
    this.#next += 1;
    this.#bytes += line.length + ENTRY_OVERHEAD;
    for (; this.#bytes > this.#limit; this.#first += 1) {
      this.#bytes -= (this.#entries.get(this.#first)?.line.length ?? 0) + ENTRY_OVERHEAD;
      this.#entries.delete(this.#first);
    }
  }
}

function isOfStream(entry: Entry, { stream }: LogOptions): boolean {
  return stream === undefined || stream === 'All' || stream === entry.stream;
}

function isWanted(entry: Entry, options: LogOptions, clock: Clock): boolean {
  if (!isOfStream(entry, options)) return false;
  if (options.sinceSeconds !== undefined && entry.time < clock.wall().getTime() - options.sinceSeconds * 1000)
    return false;
  return options.sinceTime === undefined || entry.time >= Date.parse(options.sinceTime);
}

/** RFC 3339 with nine digits of a second, as a kubelet writes it. */
function timeOf({ time, nanos }: Entry): string {
  return `${new Date(time).toISOString().slice(0, -1)}${String(nanos).padStart(6, '0')}Z`;
}
