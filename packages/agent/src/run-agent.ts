import { readFileSync } from 'node:fs';
import { createClient, createTransport, systemClock } from '@asterism/client';
import { readDestinations } from '@asterism/fleet/reach';
import { JoinError, MEMBER_LIVENESS, type RegistrationClaim } from '@asterism/fleet/join';
import { parseJson } from '@asterism/machinery';
import { type AgentOptions, type AgentTiming, DEFAULT_TIMING } from './agent-options.ts';
import { joinHub } from './join-hub.ts';
import { patiently } from './patiently.ts';
import { serveHub } from './serve-hub.ts';

/** An agent that runs. */
export interface Agent extends AsyncDisposable {
  /** Joined, connected, and its first status is in the hub. Rejects with `JoinError`, as `done` does, when that cannot be. */
  readonly ready: Promise<void>;
  /** Resolves when the agent was stopped; rejects with `JoinError` when it cannot go on. */
  readonly done: Promise<void>;
  /** Resolves when all that it opened is closed. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Joins this cluster to a hub and then serves it: heartbeat and status; in Pull and Dual the tunnel and the executor; in Push the
 * hub's credential. Survives that the hub or the member goes away and comes back. Both promises reject with a `ClientError` where a
 * destination is none.
 */
export function runAgent(options: AgentOptions): Agent {
  const stopping = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  const done = run(options, signal, resolve).then(
    () => reject(new Error('the agent was stopped before it was ready')),
    (error: unknown) => {
      reject(error);
      if (!signal.aborted) throw error;
    },
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    await done.catch(() => {});
  };
  // Whoever looks at one of them need not look at the other.
  ready.catch(() => {});
  done.catch(() => {});
  return { ready, done, stop, [Symbol.asyncDispose]: stop };
}

async function run(options: AgentOptions, signal: AbortSignal, onReady: () => void): Promise<void> {
  readDestinations(options.destinations?.origins ?? []);
  const timing: AgentTiming = { ...DEFAULT_TIMING, ...options.timing };
  const logger = options.logger.child({ agent: options.clusterName });
  const version = ownVersion();
  const userAgent = `asterism-agent/${version}`;
  const member = createClient({ transport: createTransport(options.member, MEMBER_LIVENESS), userAgent });
  try {
    const claim = claimOf(options, version);
    const patience = { ...timing, signal, logger, clock: systemClock, random: Math.random };
    const join = { hub: options.hub, claim, member, userAgent, logger, clock: systemClock, signal };
    const hub = await patiently(() => joinHub(join), patience);
    try {
      const { client } = hub;
      await serveHub(
        { agent: options, hub: client, certified: hub, member, version, timing, logger, clock: systemClock, onReady },
        signal,
      );
    } finally {
      await hub.transport.close();
    }
  } finally {
    await member.transport.close();
  }
}

/** What a cluster tells the hub when it asks to join. One that gives no endpoint tells no address. */
function claimOf(options: AgentOptions, agentVersion: string): Omit<RegistrationClaim, 'clusterId'> {
  const { clusterName, syncMode, description, endpoint, member } = options;
  const claim = { ...description, clusterName, syncMode, agentVersion };
  if (endpoint) return { ...claim, apiEndpoint: endpoint.server, caBundle: endpoint.caBundle ?? member.caData };
  if (syncMode !== 'Push') return claim;
  throw new JoinError(
    'EndpointMissing',
    `the hub is to write to "${clusterName}" (Push), so it needs its address: give endpoint.server, or join with Pull`,
  );
}

function ownVersion(): string {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (parseJson(file) as { version: string }).version;
}
