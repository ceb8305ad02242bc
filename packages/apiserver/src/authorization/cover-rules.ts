import type { PolicyRule } from './policy-rule.ts';

/**
 * What of `wanted` is not covered by `owned`, broken down into single permissions (upstream's `Covers`): an empty list
 * means that whoever owns the rules may hand them on.
 */
export function uncoveredRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((single) => !owned.some((rule) => covers(rule, single)));
}

/** One rule for each combination of group, resource, name and verb, or of URL and verb. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const singles: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        const single = { apiGroups: [group], resources: [resource], verbs: [verb] };
        const names = rule.resourceNames ?? [];
        if (names.length === 0) singles.push(single);
        else singles.push(...names.map((name) => ({ ...single, resourceNames: [name] })));
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? []) {
    singles.push(...rule.verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })));
  }
  return singles;
}

function covers(owner: PolicyRule, single: PolicyRule): boolean {
  if (!owner.verbs.includes('*') && !owner.verbs.includes(single.verbs[0]!)) return false;
  const url = single.nonResourceURLs?.[0];
  if (url !== undefined) return (owner.nonResourceURLs ?? []).some((owned) => urlCovers(owned, url));
  const group = single.apiGroups![0]!;
  const groups = owner.apiGroups ?? [];
  if (!groups.includes('*') && !groups.includes(group)) return false;
  if (!(owner.resources ?? []).some((resource) => resourceCovers(resource, single.resources![0]!))) return false;
  const names = owner.resourceNames ?? [];
  const name = single.resourceNames?.[0];
  return names.length === 0 || (name !== undefined && names.includes(name));
}

function resourceCovers(owned: string, wanted: string): boolean {
  if (owned === '*' || owned === wanted) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && owned === `*${wanted.slice(slash)}`;
}

function urlCovers(owned: string, wanted: string): boolean {
  return owned === wanted || (owned.endsWith('*') && wanted.startsWith(owned.slice(0, -1)));
}

/** Rules in the text that a refusal shows: single permissions put together again where they differ in the verb alone, sorted. */
export function describeRules(rules: readonly PolicyRule[]): string[] {
  const compacted = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify(rest);
    const known = compacted.get(key);
    if (known === undefined) compacted.set(key, { ...rest, verbs: [...verbs] });
    else known.verbs.push(...verbs.filter((verb) => !known.verbs.includes(verb)));
  }
  return [...compacted.values()].map(describeRule).sort();
}

function describeRule(rule: PolicyRule): string {
  const fields: [name: string, values: string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['ResourceNames', rule.resourceNames],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['Verbs', rule.verbs],
  ];
  const parts = fields.flatMap(([name, values]) =>
    values === undefined || values.length === 0 ? [] : [`${name}:[${values.map(quote).join(' ')}]`],
  );
  return `{${parts.join(', ')}}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
