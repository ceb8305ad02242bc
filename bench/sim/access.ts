import { interleave } from '../harness/interleave.ts';
import { AccessServers, type Caller, CALLERS } from './access-servers.ts';

const ROUNDS = 40;
const GETS = 4_000;

/** µs of CPU for each GET of one pod, of each round; the rounds of all callers stand side by side. */
export type AccessCosts = Record<Caller, number[]>;

/**
 * What a GET costs the server, by who asks: from where a listener hands it over. On the wire the same differences are there, among
 * ten times as much that has nothing to do with them.
 */
export async function measureAccess(progress: (text: string) => void, signal: AbortSignal): Promise<AccessCosts> {
  progress('filling three API servers, one with many roles');
  await using servers = await AccessServers.start(signal);
  progress('GETs of those whom everybody trusts, and of those who are asked who they are and what they may');
  const subjects = Object.fromEntries(CALLERS.map((caller) => [caller, () => servers.get(caller, GETS)]));
  return await interleave(subjects as Record<Caller, () => Promise<number>>, { rounds: ROUNDS, warmUp: 5, signal });
}

/** What each round of one caller cost beyond the round of another beside it. */
export function added(costs: AccessCosts, caller: Caller, beyond: Caller): number[] {
  return costs[caller].map((cost, round) => cost - costs[beyond][round]!);
}
