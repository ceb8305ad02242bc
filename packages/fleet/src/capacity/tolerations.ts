import type { Taint, Toleration } from '../api/index.ts';

/** The taints that keep work away. `PreferNoSchedule` only asks, and scores know nothing of it. */
const EFFECTS_THAT_REPEL: ReadonlySet<Taint['effect']> = new Set(['NoSchedule', 'NoExecute']);

/** The first taint that keeps work away and that no toleration covers. */
export function untoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): Taint | undefined {
  return taints?.find((taint) => EFFECTS_THAT_REPEL.has(taint.effect) && !isTolerated(taint, tolerations));
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}

/** As Kubernetes has it for pods: no effect covers every effect, `Exists` without a key covers every taint. */
function tolerates({ key, operator = 'Equal', value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === 'Exists';
  if (key !== taint.key) return false;
  return operator === 'Exists' || (value ?? '') === (taint.value ?? '');
}

/** `dedicated=ml:NoSchedule`, as kubectl writes a taint. */
export function formatTaint({ key, value, effect }: Taint): string {
  return value ? `${key}=${value}:${effect}` : `${key}:${effect}`;
}
