import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { authorizationOf, openSession } from './http2-load.ts';
import type { LoadTarget, WatchAsk } from './load-message.ts';

/** kube-apiserver takes 250; a client of many watches would not fill that up either. */
const STREAMS_EACH = 100;
const NEWLINE = 10;
/** For every watcher to hear of one change. */
const TIMEOUT_MS = 20_000;

/** Many watches of one path, of which only the number of events is looked at: one line each. */
export class WatchLoad {
  readonly watchers: number;
  readonly #sessions: ClientHttp2Session[] = [];
  #events = 0;
  #failure: Error | undefined;
  #waiting: { events: number; done: PromiseWithResolvers<void> } | undefined;

  private constructor(watchers: number) {
    this.watchers = watchers;
  }

  /** Resolves when every watch has told of the objects that are there. */
  static async open(target: LoadTarget, { path, watchers, existing }: WatchAsk): Promise<WatchLoad> {
    const load = new WatchLoad(watchers);
    for (let opened = 0; opened < watchers; opened += STREAMS_EACH) {
      const session = await openSession(target);
      load.#sessions.push(session);
      const streams = Math.min(STREAMS_EACH, watchers - opened);
      await Promise.all(Array.from({ length: streams }, () => load.#follow(session, target, path)));
    }
    await load.until(watchers * existing);
    return load;
  }

  /** Of all watchers together. */
  get events(): number {
    return this.#events;
  }

  /** Resolves when so many events have come; rejects when a watch ends, or after 20 s. */
  async until(events: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#events >= events) return;
    const done = Promise.withResolvers<void>();
    this.#waiting = { events, done };
    const timer = setTimeout(() => {
      done.reject(new Error(`${this.#events} of ${events} events came in ${TIMEOUT_MS / 1000} s`));
    }, TIMEOUT_MS);
    await done.promise.finally(() => clearTimeout(timer));
  }

  /** Whoever waits is told. */
  close(): void {
    this.#fail('the watches were closed');
    for (const session of this.#sessions) session.destroy();
  }

  #follow(session: ClientHttp2Session, target: LoadTarget, path: string): Promise<void> {
    const stream: ClientHttp2Stream = session.request({
      ':method': 'GET',
      ':path': path,
      ...authorizationOf(target),
      accept: 'application/json',
    });
    stream.on('data', (piece: Buffer) => this.#count(piece));
    stream.on('end', () => this.#fail('the server ended a watch'));
    return new Promise((resolve, reject) => {
      stream.on('error', reject);
      stream.on('response', (headers) => {
        if (headers[':status'] === 200) resolve();
        else reject(new Error(`the watch of ${path} was answered ${headers[':status']}`));
      });
    });
  }

  #fail(why: string): void {
    this.#failure ??= new Error(`${why}, after ${this.#events} events`);
    this.#waiting?.done.reject(this.#failure);
  }

  #count(piece: Buffer): void {
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) this.#events++;
    if (this.#waiting === undefined || this.#events < this.#waiting.events) return;
    this.#waiting.done.resolve();
    this.#waiting = undefined;
  }
}
