import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '@asterism/client';
import { isTunnelError, TunnelError } from '../tunnel-error.ts';
import type { TunnelLogger } from '../tunnel-logger.ts';
import type { CarrierKind } from '../wire/carriers.ts';
import type { ConnectionOffer } from '../wire/connection-offer.ts';
import { lineOf } from '../wire/socket.ts';
import type { TunnelAgentOptions } from './run-tunnel-agent.ts';

export interface DialCarriersOptions {
  /**
   * Opens one connection by a carrier. Rejects with TunnelError `BLOCKED` where something in between may have kept it from the hub, or
   * the hub's answer from it; with any other error where another carrier would fare no better: the hub itself said no, or is not reached.
   */
  dial: (kind: CarrierKind, offer: ConnectionOffer, signal: AbortSignal) => Promise<Duplex>;
  /** How long the first carrier may take before the other one is tried, ms; less than what the agent allows for both. Default: 5,000. */
  patienceMs?: number | undefined;
  /** How long the second best is kept to before the best is tried again, ms. Default: 10 min. */
  retryMs?: number | undefined;
  clock?: Clock | undefined;
  logger?: TunnelLogger | undefined;
}

/** What `runTunnelAgent` needs of one who chooses between carriers. */
export interface CarrierDialler extends Required<Pick<TunnelAgentOptions, 'dial' | 'onTried'>> {
  /** What connections are opened by now. */
  readonly kind: CarrierKind;
}

/** So many connections one after another that open and carry nothing are a box in between, and not a hub that was killed. */
const UNUSABLE = 2;

/**
 * Dials by HTTP Upgrade, and by WebSocket where something between agent and hub does not let an upgrade pass:
 *
 * - C1 what the hub itself says, and a hub that is not reached, is no reason to try the other carrier;
 * - C2 the choice is remembered, so that the connections that follow do not lose time; it is made only after the better carrier was
 *   blocked once more behind the other's success, as a hub that comes up meanwhile looks the same;
 * - C3 the better carrier is tried again now and then, by one connection that is wanted anyway; those that stand are let be;
 * - C4 a carrier that opens, but carries nothing, counts as one that is not let pass.
 */
export function dialCarriers(options: DialCarriersOptions): CarrierDialler {
  const { dial, patienceMs = 5_000, retryMs = 600_000, clock = systemClock, logger } = options;
  let kind: CarrierKind = 'upgrade';
  let retryAt = 0;
  let unusable = 0;

  const attempt = async (by: CarrierKind, offer: ConnectionOffer, signal: AbortSignal): Promise<Duplex | Blocked> => {
    const giveUp = new AbortController();
    const cancelTimer = clock.setTimer(() => giveUp.abort(), patienceMs);
    try {
      return await dial(by, offer, AbortSignal.any([signal, giveUp.signal]));
    } catch (error) {
      signal.throwIfAborted();
      if (giveUp.signal.aborted)
        return { blocked: new TunnelError('BLOCKED', `no answer within ${patienceMs} ms`), slow: true };
      if (!isTunnelError(error, 'BLOCKED')) throw error; // C1
      return { blocked: error, slow: false };
    } finally {
      cancelTimer();
    }
  };

  const keepTo = (next: CarrierKind, reason?: string): void => {
    if (next === 'websocket') retryAt = clock.monotonic() + retryMs;
    if (next === kind) return;
    kind = next;
    if (next === 'upgrade') logger?.info({}, 'the tunnel needs no WebSocket any more');
    else
      logger?.warn(
        { reason },
        'something before the hub lets no upgrade pass: the tunnel goes over WebSocket, which is slower',
      );
  };

  return {
    get kind() {
      return kind;
    },
    onTried(socket, works) {
      // A carrier of messages stands on a line that is not itself.
      if (lineOf(socket) === socket) unusable = works ? 0 : unusable + 1;
    },
    async dial(offer, signal) {
      const due = kind === 'websocket' && clock.monotonic() >= retryAt;
      if (due) retryAt = clock.monotonic() + retryMs; // C3: the others that dial now keep to what works.
      const tries = due || (kind === 'upgrade' && unusable < UNUSABLE);
      const first = tries ? await attempt('upgrade', offer, signal) : undefined;
      if (first && !('blocked' in first)) {
        keepTo('upgrade');
        return first;
      }
      const second = await attempt('websocket', offer, signal);
      unusable = 0;
      if ('blocked' in second) {
        retryAt = 0;
        throw blockedBoth(first?.blocked, second.blocked);
      }
      if (kind === 'upgrade' && first && !first.slow) {
        const again = await attempt('upgrade', offer, signal).catch((error: unknown) => {
          second.destroy();
          throw error;
        });
        if (!('blocked' in again)) {
          second.destroy();
          return again;
        }
      }
      keepTo('websocket', first?.blocked.message ?? 'connections opened and carried nothing');
      return second;
    },
  };
}

interface Blocked {
  blocked: TunnelError;
  /** Nobody answered. */
  slow: boolean;
}

function blockedBoth(upgrade: TunnelError | undefined, websocket: TunnelError): TunnelError {
  const waits = [upgrade, websocket].flatMap((error) => error?.retryAfterMs ?? []);
  const first = upgrade === undefined ? '' : `by an upgrade (${upgrade.message}), nor `;
  return new TunnelError(
    'BLOCKED',
    `the tunnel does not get through, ${upgrade === undefined ? 'not' : 'neither'} ${first}by WebSocket (${websocket.message})`,
    {
      cause: websocket,
      retryAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
    },
  );
}
