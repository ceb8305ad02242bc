import type { KubeObject } from '@asterism/machinery';
import type { ObjectReference } from '../../api/index.ts';
import { choosePolicy, type Policies, type Policy } from '../match-policy.ts';
import type { Grounds } from './grounds.ts';

export interface Chosen {
  policy: Policy;
  grounds: Grounds | undefined;
}

export interface EntitledChoice {
  policies: Policies;
  /** The policy that has placed the object. */
  holder: ObjectReference | undefined;
  /** How many clusters there are. */
  clusters: number;
  /** Undefined where no rights are asked for. */
  groundsOf: (policy: Policy) => Promise<Grounds | undefined>;
}

/**
 * Chooses as `choosePolicy` does, but prefers policies that may place the object somewhere. A policy without rights could otherwise remove
 * from the members what another policy has placed. It is chosen only if there is no other, and its binding then says what it lacks.
 */
export async function chooseEntitled(object: KubeObject, choice: EntitledChoice): Promise<Chosen | undefined> {
  const { policies, holder, clusters, groundsOf } = choice;
  let { namespaced } = policies;
  let powerless: Chosen | undefined;
  for (;;) {
    const policy = choosePolicy(object, { ...policies, namespaced }, holder);
    if (!policy) return powerless;
    const chosen = { policy, grounds: await groundsOf(policy) };
    if (policy.kind !== 'PropagationPolicy' || !isPowerless(chosen.grounds, clusters)) return chosen;
    powerless ??= chosen;
    namespaced = namespaced.filter((each) => each !== policy);
  }
}

function isPowerless(grounds: Grounds | undefined, clusters: number): boolean {
  if (!grounds) return false;
  return grounds.unread !== undefined || (clusters > 0 && grounds.refusals.size >= clusters);
}
