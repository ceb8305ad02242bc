import { loadavg, availableParallelism } from 'node:os';
import { formatCase, type GrowthCase } from './growth-cases.ts';
import { GrowthServer } from './growth-server.ts';
import { growthRequest, type GrowthRequest, smallRequest } from './growth-ways.ts';
import { LivezProbe } from './livez-probe.ts';

/** An answer to a grown object comes within this time. */
const MOST_MS = 1_000;
/** For so long `/livez` of another connection waits at most. */
const MOST_HELD_MS = 200;
/** A time of the wall counts only if it is too long as often as this: another process may have had the processor. */
const TRIES = 3;
/** A refusal shows so much at most of the value that it refuses. */
const MOST_REFUSAL = 2 * 1024 * 1024;
const NO_PORT_LEFT = 'failed to allocate a nodePort: range is full';
/** A server in memory keeps what it stored for watchers: after so many objects of 3 MiB another one is started. */
const OBJECTS_OF_ONE_SERVER = 60;

/** What an answer cost, in milliseconds. */
interface Cost {
  /** Of the server's thread. */
  cpuMs: number;
  /** Of the server's thread, without a turn for anything else. */
  heldMs: number;
  /** On the wall, as the client saw it. */
  wallMs: number;
  /** The longest that `/livez` took meanwhile, on the wall. */
  livezMs: number;
}

interface Outcome {
  status: number;
  answer: string;
  cost: Cost;
}

/** Sends grown objects, and says of each what was wrong with its answer. */
export class GrownSender implements AsyncDisposable {
  #server: GrowthServer;
  #sent = 0;
  /** By status. */
  readonly tally = new Map<string, number>();
  /** The highest that were seen. */
  readonly most: Cost = { cpuMs: 0, heldMs: 0, wallMs: 0, livezMs: 0 };

  constructor(server: GrowthServer) {
    this.#server = server;
  }

  /** Undefined where the answer came in time, is no fault of the server, and others were served meanwhile. */
  async fault(grown: GrowthCase): Promise<string | undefined> {
    let said = '';
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      const { status, answer, cost } = await this.#grow(grown);
      if (attempt === 1) this.#count(`${grown.way} ${status}`, cost);
      said = `${formatCase(grown)}: ${status}, ${formatCost(cost)}`;
      if (status >= 500 && !isAsUpstream(answer)) return `${said}: ${answer.slice(0, 300)}`;
      if (status >= 400 && answer.length > MOST_REFUSAL) return `${said}: a refusal of ${answer.length} characters`;
      const slowness = Math.max(1, this.#server.slowness);
      if (cost.cpuMs > MOST_MS * slowness || cost.heldMs > MOST_HELD_MS * slowness) return said;
      const load = slowness * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
      if (cost.wallMs <= MOST_MS * load && cost.livezMs <= MOST_HELD_MS * load) return undefined;
    }
    return said;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  async #grow(grown: GrowthCase): Promise<Outcome> {
    this.#sent += 1;
    if (this.#sent % OBJECTS_OF_ONE_SERVER === 0) {
      await this.#server[Symbol.asyncDispose]();
      this.#server = await GrowthServer.start();
    }
    const name = `grown-${this.#sent}`;
    const small = grown.way === 'create' ? undefined : await this.#send(smallRequest(grown, name));
    const present = small && small.status < 300 ? (JSON.parse(small.body) as object) : undefined;
    // An object that is not valid while it is small grows as it is created.
    const way = present ? grown.way : 'create';
    const outcome = await this.#measure(growthRequest({ ...grown, way }, name, present));
    if (present || outcome.status < 300) {
      await this.#server.send('DELETE', `${grown.kind.path}/${name}?gracePeriodSeconds=0`);
    }
    return outcome;
  }

  async #measure(request: GrowthRequest): Promise<Outcome> {
    await this.#server.holds();
    const probe = new LivezProbe(this.#server);
    const start = performance.now();
    const { status, body } = await this.#send(request);
    const wallMs = performance.now() - start;
    const livezMs = await probe.stop();
    const { longestMs, totalMs } = await this.#server.holds();
    return { status, answer: body, cost: { cpuMs: totalMs, heldMs: longestMs, wallMs, livezMs } };
  }

  #send({ method, path, ...content }: GrowthRequest): ReturnType<GrowthServer['send']> {
    return this.#server.send(method, path, content);
  }

  #count(outcome: string, cost: Cost): void {
    this.tally.set(outcome, (this.tally.get(outcome) ?? 0) + 1);
    for (const each of Object.keys(cost) as (keyof Cost)[]) this.most[each] = Math.max(this.most[each], cost[each]);
  }

  /** What was sent, and the highest costs. */
  summary(): string {
    const answers = [...this.tally].map(([outcome, count]) => `${count} times ${outcome}`);
    return `${answers.join(', ')}; at most ${formatCost(this.most)}`;
  }
}

/** Whether a kube-apiserver gives 500 too. It has no reason for failures that it does not classify; ours gives one for failures of its own. */
function isAsUpstream(answer: string): boolean {
  const { reason, message = '' } = JSON.parse(answer) as { reason?: string; message?: string };
  return reason === undefined || message.includes(NO_PORT_LEFT);
}

function formatCost({ cpuMs, heldMs, wallMs, livezMs }: Cost): string {
  const [cpu, held, wall, livez] = [cpuMs, heldMs, wallMs, livezMs].map(Math.round);
  return `${cpu} ms of the thread, ${held} ms at a time; on the wall ${wall} ms, /livez ${livez} ms`;
}
