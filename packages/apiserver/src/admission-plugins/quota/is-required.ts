import type { ScopeRequirement } from './usage-rule.ts';

/** Whether a name, '' where there is none, is one that the requirement of a scope asks for. */
export function isRequired(name: string, { operator, values }: ScopeRequirement): boolean {
  switch (operator) {
    case 'Exists':
      return name !== '';
    case 'DoesNotExist':
      return name === '';
    case 'In':
      return name !== '' && values.includes(name);
    case 'NotIn':
      return name === '' || !values.includes(name);
    default:
      return false;
  }
}
