import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyMergePatch, type KubeObject } from '@asterism/machinery';
import type { RecordedRequest } from '../../conformance/scenario.ts';
import { type Answer, sendRequest, type Target } from '../../conformance/send-request.ts';
import type { Decision } from './decision.ts';
import { type DecisionOutcome, outcomeOf } from './decision-outcome.ts';
import type { RightsWorld } from './rights-world.ts';

const AT_ONCE = 24;
const KNOWN_WITHIN_MS = 30_000;

/** Makes a world on a server and waits until its authorizers know it. */
export async function build(target: Target, { objects, known }: RightsWorld): Promise<void> {
  for (const request of objects) {
    const { status, body } = await sendUntilServed(target, request);
    assert.ok(status < 300, `${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`);
  }
  const end = Date.now() + KNOWN_WITHIN_MS;
  for (const request of known) {
    while (!isAllowed(await sendRequest(target, request))) {
      assert.ok(
        Date.now() < end,
        `a server does not know after ${KNOWN_WITHIN_MS} ms: ${JSON.stringify(request.body)}`,
      );
      await sleep(50);
    }
  }
}

/** A custom kind is served some time after its definition. */
async function sendUntilServed(target: Target, request: RecordedRequest): Promise<Answer> {
  const end = Date.now() + KNOWN_WITHIN_MS;
  for (;;) {
    const answer = await sendRequest(target, request);
    if (answer.status !== 404 || Date.now() > end) return answer;
    await sleep(100);
  }
}

function isAllowed({ body }: Answer): boolean {
  return ((body as KubeObject | undefined)?.status as { allowed?: boolean } | undefined)?.allowed === true;
}

/** The outcomes of all decisions, in their order. Nothing is stored by them, so their order does not matter. */
export async function decide(target: Target, decisions: readonly Decision[]): Promise<DecisionOutcome[]> {
  const outcomes: DecisionOutcome[] = [];
  const bases = new Map<string, Promise<Answer>>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < decisions.length; at = next++) {
      const decision = decisions[at]!;
      outcomes[at] = outcomeOf(decision, await ask(target, decision, bases));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function ask(
  target: Target,
  { base, request, user }: Decision,
  bases: Map<string, Promise<Answer>>,
): Promise<Answer> {
  if (base === undefined) return await sendRequest(target, { ...request, user });
  const read = bases.get(base.path) ?? sendRequest(target, { method: 'GET', path: base.path });
  bases.set(base.path, read);
  const { body } = await read;
  return await sendRequest(target, { ...request, user, body: applyMergePatch(body, base.change) });
}
