import { Readable, Writable } from 'node:stream';
import { BrokenPipe, type Pipe, type Source } from './byte-stream.ts';
import type { Terminal } from './terminal.ts';

/** What a process writes, for one who is outside. Destroying it breaks the pipe. */
export function readableOf(source: Source): Readable {
  return new Readable({
    read() {
      void pull(this, source);
    },
    destroy(error, done) {
      source.close();
      done(error);
    },
  });
}

async function pull(readable: Readable, source: Source): Promise<void> {
  for (let wait = source.ready(); wait; wait = source.ready()) await wait;
  if (!readable.destroyed) readable.push(source.take() ?? null);
}

/** What a process reads, from one who is outside. Where nobody reads it any more, it is forgotten. */
export function writableTo(pipe: Pipe, terminal?: Terminal): Writable {
  const end = (): void => (terminal ? terminal.hangUp() : pipe.end());
  return new Writable({
    write(chunk: Uint8Array, _, done) {
      void (async () => {
        for (let wait = pipe.room(); wait; wait = pipe.room()) await wait;
        try {
          if (terminal) terminal.receive(chunk);
          else pipe.put(chunk);
          done();
        } catch (error) {
          done(error instanceof BrokenPipe ? null : (error as Error));
        }
      })();
    },
    final(done) {
      end();
      done();
    },
    destroy(error, done) {
      end();
      done(error);
    },
  });
}

/** An input that nothing reads. */
export function ignoredInput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** An output on which nothing comes. */
export function emptyOutput(): Readable {
  return Readable.from([]);
}
