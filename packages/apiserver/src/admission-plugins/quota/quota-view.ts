import type { KubeObject } from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../../kinds/fields/draft-fields.ts';
import type { ScopeRequirement, UsageRule } from './usage-rule.ts';

/** What a ResourceQuota asks of the objects that it is on, whichever of its two fields says so. */
export function scopesOf(quota: KubeObject): ScopeRequirement[] {
  const spec = optionalFields(quota, 'spec');
  const selected = listAt(optionalFields(spec, 'scopeSelector'), 'matchExpressions').map((expression: Fields) => ({
    scopeName: textAt(expression, 'scopeName'),
    operator: textAt(expression, 'operator'),
    values: textsAt(expression, 'values'),
  }));
  return [...textsAt(spec, 'scopes').map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })), ...selected];
}

export function isInScopes(rule: UsageRule, object: KubeObject, scopes: readonly ScopeRequirement[]): boolean {
  return scopes.every((requirement) => rule.isInScope(object, requirement));
}
