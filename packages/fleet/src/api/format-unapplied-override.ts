import type { UnappliedOverride } from './kinds.ts';

/** Which rule it is, and why: `OverridePolicy demo/x, rule 0, plaintext[1]: there is nothing at /data/key to replace`. */
export function formatUnappliedOverride(unapplied: Omit<UnappliedOverride, 'clusters' | 'reason'>): string {
  const { kind, namespace, name, rule, overrider, message } = unapplied;
  const policy = `${kind} ${namespace ? `${namespace}/${name}` : name}`;
  const place = [policy, ...(rule === undefined ? [] : [`rule ${rule}`]), ...(overrider ? [overrider] : [])];
  return `${place.join(', ')}: ${message}`;
}
