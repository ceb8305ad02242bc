import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createCertificateAuthority, createSigningRequest } from '@asterism/apiserver';
import { Draw } from '../../soak/draw.ts';
import { mulberry32 } from '../../soak/mulberry32.ts';
import type { Target } from '../../conformance/send-request.ts';
import type { Decision } from './decision.ts';
import { type DecisionOutcome, sameOutcome } from './decision-outcome.ts';
import { drawDecision } from './draw-decision.ts';
import { INTENDED_DIFFERENCES } from './intended-differences.ts';
import { makeWorld, type RightsWorld, type WorldKeys } from './rights-world.ts';
import { build, decide } from './run-decisions.ts';
import { startOwnServer } from '../own-server.ts';
import { type ComparedServer, startRealServer } from '../real-server.ts';
import { rightsUsers } from './identities.ts';

export interface RightsRound {
  world: RightsWorld;
  decisions: readonly Decision[];
}

/** Worlds and their decisions; the same for the same seed. */
export function drawRounds(options: { seed: number; rounds: number; each: number; keys: WorldKeys }): RightsRound[] {
  const { seed, rounds, each, keys } = options;
  return Array.from({ length: rounds }, (_, round) => {
    const world = makeWorld(seed, round, keys);
    const draw = new Draw(mulberry32(seed * 7919 + round * 31 + 1));
    return { world, decisions: Array.from({ length: each }, () => drawDecision(draw, world)) };
  });
}

/** Both servers get the same keys, which no seed can make. */
export async function makeKeys(): Promise<WorldKeys> {
  const requests = new Map<string, string>();
  for (const organization of ['devs', 'system:masters', 'system:nodes']) {
    const commonName = organization === 'system:nodes' ? 'system:node:n1-0' : 'someone';
    const { csr } = await createSigningRequest({ commonName, organizations: [organization] });
    requests.set(organization, Buffer.from(csr).toString('base64'));
  }
  const { cert } = await createCertificateAuthority({ commonName: 'issued' });
  return { requests, certificate: Buffer.from(cert).toString('base64') };
}

/** Builds every world on a server, then asks for every decision. */
export async function outcomesOf(target: Target, rounds: readonly RightsRound[]): Promise<DecisionOutcome[][]> {
  const outcomes: DecisionOutcome[][] = [];
  for (const { world, decisions } of rounds) {
    await build(target, world);
    outcomes.push(await decide(target, decisions));
  }
  return outcomes;
}

export interface FoundDifference {
  decision: Decision;
  real: DecisionOutcome;
  own: DecisionOutcome;
  /** Undefined for a fault. */
  intended: string | undefined;
}

export function findDifferences(
  rounds: readonly RightsRound[],
  real: readonly DecisionOutcome[][],
  own: readonly DecisionOutcome[][],
): FoundDifference[] {
  return rounds.flatMap(({ decisions }, round) =>
    decisions.flatMap((decision, at) => {
      const [one, other] = [real[round]![at]!, own[round]![at]!];
      if (sameOutcome(one, other)) return [];
      const intended = INTENDED_DIFFERENCES.find(({ fits }) => fits(decision, one, other))?.name;
      return [{ decision, real: one, own: other, intended }];
    }),
  );
}

/** Fails with the first unexplained differences, each with all that is needed to ask it again. */
export function assertSameDecisions(
  context: TestContext,
  rounds: readonly RightsRound[],
  found: readonly FoundDifference[],
): void {
  const faults = found.filter(({ intended }) => intended === undefined);
  const total = rounds.reduce((sum, { decisions }) => sum + decisions.length, 0);
  for (const [name, each] of Map.groupBy(found, ({ intended = 'not explained' }) => intended)) {
    context.diagnostic(`${each.length} of ${total} differ: ${name}`);
  }
  assert.equal(faults.length, 0, faults.slice(0, 20).map(describe).join('\n'));
}

export function describe({ decision, real, own }: FoundDifference): string {
  const { family, user, request, base } = decision;
  const asked = `${family}: ${user} ${request.method} ${request.path} ${JSON.stringify({ ...request.query, ...request.headers })}`;
  const told = ({ status, reason, by, shown, message }: DecisionOutcome): string =>
    `${status} ${reason} ${by} ${JSON.stringify(shown) ?? ''} ${message}`.slice(0, 400);
  const body = JSON.stringify(base?.change ?? request.body) ?? '';
  return `${asked}\n  ${body.slice(0, 300)}\n  real ${told(real)}\n  own  ${told(own)}`;
}

/** Asks both servers for every decision, one server after the other, and fails where one differs without a reason. */
export async function runRightsSuite(
  context: TestContext,
  options: { seed: number; rounds: number; each: number },
): Promise<void> {
  const rounds = drawRounds({ ...options, keys: await makeKeys() });
  const own = await outcomesOn(() => startOwnServer(rightsUsers()), rounds);
  const real = await outcomesOn(() => startRealServer(rightsUsers()), rounds);
  assertSameDecisions(context, rounds, findDifferences(rounds, real, own));
}

/** Of a server that runs for this alone. */
export async function outcomesOn(
  start: () => Promise<ComparedServer>,
  rounds: readonly RightsRound[],
): Promise<DecisionOutcome[][]> {
  await using server = await start();
  return await outcomesOf(server.target, rounds);
}
