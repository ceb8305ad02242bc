import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Holds } from './hold-meter.ts';

/** What the process says when it listens. */
interface Told {
  url: string;
  ca: string;
  token: string;
  slowness: number;
}

/** An answer of the server. */
export interface Answer {
  status: number;
  body: string;
}

/** A server in a process of its own, which says for how long each request held it. */
export class GrowthServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #url: URL;
  readonly #token: string;
  readonly #agent: Agent;
  /** Of the connection for `/livez`: it never waits for an answer to a grown object. */
  readonly #probeAgent: Agent;
  /** How much longer work takes here than on a machine of the usual speed. */
  readonly slowness: number;

  private constructor(child: ChildProcess, { url, ca, token, slowness }: Told) {
    this.#child = child;
    this.#url = new URL(url);
    this.#token = token;
    this.slowness = slowness;
    this.#agent = new Agent({ ca, keepAlive: true });
    this.#probeAgent = new Agent({ ca, keepAlive: true, maxSockets: 1 });
  }

  static async start(): Promise<GrowthServer> {
    const child = fork(fileURLToPath(new URL('server-process.ts', import.meta.url)), {
      execArgv: ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning'],
    });
    const [told] = (await once(child, 'message')) as [Told];
    const server = new GrowthServer(child, told);
    await server.livez();
    return server;
  }

  /** What the server's thread did since the last question. */
  async holds(): Promise<Holds> {
    const answered = once(this.#child, 'message');
    this.#child.send('holds');
    const [holds] = (await answered) as [Holds];
    return holds;
  }

  async send(
    method: string,
    path: string,
    { body, contentType = 'application/json' }: { body?: string; contentType?: string } = {},
  ): Promise<Answer> {
    return this.#exchange(this.#agent, { method, path, contentType, ...(body === undefined ? {} : { body }) });
  }

  /** Asked over another connection. */
  async livez(): Promise<Answer> {
    return this.#exchange(this.#probeAgent, { method: 'GET', path: '/livez', contentType: '' });
  }

  async #exchange(
    agent: Agent,
    { method, path, body, contentType }: { method: string; path: string; body?: string; contentType: string },
  ): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
    };
    const { hostname, port } = this.#url;
    const sent = request({ hostname, port, path, method, headers, agent }).end(body);
    const [answer] = await once(sent, 'response');
    return { status: answer.statusCode, body: await text(answer) };
  }

  async getJson<T>(path: string): Promise<T> {
    const { status, body } = await this.send('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.slice(0, 200)}`);
    return JSON.parse(body) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    this.#probeAgent.destroy();
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
