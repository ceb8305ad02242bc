import { Readable } from 'node:stream';
import { startTestServer, type TestServer, type TestServerOptions } from '@asterism/apiserver/testing';
import type { Transport, TransportRequest, TransportResponse } from '@asterism/client';
import { type Logger, silentLogger } from '@asterism/runtime';
import { createTunnelHub, type TunnelHub } from '@asterism/tunnel';
import { type Callers, NO_CALLERS } from '../callers.ts';
import { createReachExtension } from '../reach-extension.ts';

export interface RecordingHubOptions extends Pick<TestServerOptions, 'authorization'> {
  /** Default: {@link NO_CALLERS}. */
  callers?: Callers;
  logger?: Logger;
}

/** An API server with routes to a member that answers each request, and each upgrade, with `{}`. */
export class RecordingHub implements AsyncDisposable {
  readonly server: TestServer;
  /** The requests that the member got. */
  readonly sent: TransportRequest[];
  readonly #tunnels: TunnelHub;

  private constructor(server: TestServer, sent: TransportRequest[], tunnels: TunnelHub) {
    this.server = server;
    this.sent = sent;
    this.#tunnels = tunnels;
  }

  static async start(options: RecordingHubOptions = {}): Promise<RecordingHub> {
    const { callers = NO_CALLERS, logger = silentLogger, authorization } = options;
    const sent: TransportRequest[] = [];
    const answer = (request: TransportRequest): Promise<TransportResponse> => {
      sent.push(request);
      return Promise.resolve({ status: 200, headers: {}, body: Readable.from([Buffer.from('{}')]) });
    };
    const transport: Transport = {
      request: answer,
      upgrade: answer,
      close: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const connections = {
      find: () => ({ transport }),
      keyOf: () => Promise.resolve(undefined),
      onChange: () => () => {},
      follow: () => {},
    };
    const tunnels = createTunnelHub();
    const reach = createReachExtension({
      connections,
      tunnels,
      callers: { settled: () => Promise.resolve(callers), admit: () => {} },
      logger,
    });
    const server = await startTestServer({ extensions: [reach], ...(authorization ? { authorization } : {}) });
    return new RecordingHub(server, sent, tunnels);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tunnels.close();
    await this.server.stop();
  }
}
