import { bodyOf, formatCase, type GrowthCase } from './growth-cases.ts';
import { GrowthServer } from './growth-server.ts';

/** What an answer to a grown object may cost, in processor time of the server's thread on a machine of the usual speed. */
const MOST_MS = 1_000;
/** For so long `/livez` of another connection waits at most. */
const MOST_HELD_MS = 200;
/** A kube-apiserver gives 500 for these too. */
const AS_UPSTREAM = /"(target\.name: Required value|resourceVersion should not be set on objects to be created)"/;
/** A server in memory keeps what it stored for watchers: after so many objects of 3 MiB another one is started. */
const OBJECTS_OF_ONE_SERVER = 60;

/** Sends grown objects, and says of each what was wrong with its answer. */
export class GrownSender implements AsyncDisposable {
  #server: GrowthServer;
  #sent = 0;
  /** By status. */
  readonly tally = new Map<number, number>();
  longestMs = 0;

  constructor(server: GrowthServer) {
    this.#server = server;
  }

  /** Undefined where the answer came in time, is no fault of the server, and others were served meanwhile. */
  async fault(grown: GrowthCase): Promise<string | undefined> {
    this.#sent += 1;
    if (this.#sent % OBJECTS_OF_ONE_SERVER === 0) {
      await this.#server[Symbol.asyncDispose]();
      this.#server = await GrowthServer.start();
    }
    const name = `grown-${this.#sent}`;
    const body = bodyOf(grown, name);
    await this.#server.holds();
    const { status, body: answer } = await this.#server.send('POST', grown.kind.path, body);
    const { longestMs, totalMs } = await this.#server.holds();
    this.tally.set(status, (this.tally.get(status) ?? 0) + 1);
    if (status < 300) await this.#server.send('DELETE', `${grown.kind.path}/${name}?gracePeriodSeconds=0`);
    const allowed = Math.max(1, this.#server.slowness);
    this.longestMs = Math.max(this.longestMs, longestMs / allowed);
    const how = `${formatCase(grown)}: ${status}, ${Math.round(totalMs)} ms, ${Math.round(longestMs)} ms at a time`;
    if (status >= 500 && !AS_UPSTREAM.test(answer)) return `${how}: ${answer.slice(0, 300)}`;
    return totalMs > MOST_MS * allowed || longestMs > MOST_HELD_MS * allowed ? how : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
