import { interleave } from '../harness/interleave.ts';
import { cpuOf } from '../harness/cpu-of.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { AccessServers, type Caller, CALLERS, NAMESPACE, PODS_READ } from './access-servers.ts';

const ROUNDS = 15;
const SECONDS = 1;

/** µs of the server's CPU for each GET of one pod, of each round; the rounds of all callers stand side by side. */
export type AccessCosts = Record<Caller, number[]>;

/** What a GET costs the server, by who asks. */
export async function measureAccess(progress: (text: string) => void, signal: AbortSignal): Promise<AccessCosts> {
  progress('filling three API servers, one with many roles');
  await using servers = await AccessServers.start(signal);
  await using stack = new AsyncDisposableStack();
  const subjects: Partial<Record<Caller, () => Promise<number>>> = {};
  for (const caller of CALLERS) {
    const generator = stack.use(new LoadGenerator(signal));
    await generator.connect(servers.targets[caller]);
    subjects[caller] = async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/pod-{i}`;
      const { result, cpuMs } = await cpuOf([servers.pid], () =>
        generator.run({ method: 'GET', path, modulo: PODS_READ, concurrency: 16, seconds: SECONDS, most: 1_000_000 }),
      );
      return (cpuMs / result.requests) * 1000;
    };
  }
  progress('GETs of those whom everybody trusts, and of those who are asked who they are and what they may');
  return await interleave(subjects as Record<Caller, () => Promise<number>>, { rounds: ROUNDS, warmUp: 3, signal });
}

/** What each round of one caller cost beyond the round of another beside it. */
export function added(costs: AccessCosts, caller: Caller, beyond: Caller): number[] {
  return costs[caller].map((cost, round) => cost - costs[beyond][round]!);
}
