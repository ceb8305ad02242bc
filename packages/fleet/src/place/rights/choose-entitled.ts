import type { KubeObject } from '@asterism/machinery';
import type { ObjectReference } from '../../api/index.ts';
import { choosePolicy, type Policies, type Policy } from '../match-policy.ts';
import type { Grounds } from './grounds.ts';

export interface Chosen {
  policy: Policy;
  grounds: Grounds | undefined;
}

export interface EntitledChoice<G> {
  policies: Policies;
  /** The policy that has placed the object. */
  holder: ObjectReference | undefined;
  /** How many clusters there are. */
  clusters: number;
  /** Undefined where no rights are asked for. */
  groundsOf: (policy: Policy) => G;
}

/**
 * Chooses as `choosePolicy` does, but prefers policies that may place the object somewhere. A policy without rights could otherwise remove
 * from the members what another policy has placed. It is chosen only if there is no other, and its binding then says what it lacks.
 */
export async function chooseEntitled(
  object: KubeObject,
  choice: EntitledChoice<Promise<Grounds | undefined>>,
): Promise<Chosen | undefined> {
  const asking = choosing(object, choice);
  let step = asking.next();
  while (!step.done) step = asking.next(await choice.groundsOf(step.value));
  return step.value;
}

/** The same if all grounds are known. */
export function chooseByGrounds(object: KubeObject, choice: EntitledChoice<Grounds | undefined>): Chosen | undefined {
  const asking = choosing(object, choice);
  let step = asking.next();
  while (!step.done) step = asking.next(choice.groundsOf(step.value));
  return step.value;
}

/** Yields each policy whose grounds matter, and takes them. */
function* choosing(
  object: KubeObject,
  { policies, holder, clusters }: Omit<EntitledChoice<unknown>, 'groundsOf'>,
): Generator<Policy, Chosen | undefined, Grounds | undefined> {
  let { namespaced } = policies;
  let powerless: Chosen | undefined;
  for (;;) {
    const policy = choosePolicy(object, { ...policies, namespaced }, holder);
    if (!policy) return powerless;
    const chosen = { policy, grounds: yield policy };
    if (policy.kind !== 'PropagationPolicy' || !isPowerless(chosen.grounds, clusters)) return chosen;
    powerless ??= chosen;
    namespaced = namespaced.filter((each) => each !== policy);
  }
}

/** Whether the policy may place the object nowhere. */
export function isPowerless(grounds: Grounds | undefined, clusters: number): boolean {
  if (!grounds) return false;
  return grounds.unread !== undefined || (clusters > 0 && grounds.refusals.size >= clusters);
}
