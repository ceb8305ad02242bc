import { Readable, Writable } from 'node:stream';
import { BrokenPipe, type Pipe, type Source } from './byte-stream.ts';
import type { Process } from './container-runtime.ts';
import type { Terminal } from './terminal.ts';

/** The output of a process. Destroying it breaks the pipe. */
function readableOf(source: Source): Readable {
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

/** The input of a process. Bytes that nobody reads are dropped. */
function writableTo(pipe: Pipe, terminal?: Terminal): Writable {
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

interface ProcessStreams {
  /** Absent if nothing reads the input. */
  stdin: Pipe | undefined;
  terminal: Terminal | undefined;
  outputs: { stdout: Source; stderr: Source };
  tty: boolean;
}

/** The streams of a process for its caller. */
export function createProcess(
  { stdin, terminal, outputs, tty }: ProcessStreams,
  rest: Pick<Process, 'exit' | 'kill'>,
): Process {
  return {
    ...rest,
    stdin: stdin ? writableTo(stdin, terminal) : new Writable({ write: (_chunk, _encoding, done) => done() }),
    stdout: readableOf(outputs.stdout),
    stderr: tty ? Readable.from([]) : readableOf(outputs.stderr),
    resize: (size) => {
      if (terminal) terminal.size = size;
    },
  };
}
