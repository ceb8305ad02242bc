import type { Strategy } from '../strategy.ts';
import { fieldsAt, listAt, optionalFields } from './draft-fields.ts';

export const limitRangeStrategy: Strategy = {
  applyDefaults(draft) {
    for (const limit of listAt(optionalFields(draft, 'spec'), 'limits')) {
      if (limit.type !== 'Container') continue;
      // What bounds a value is its default, in this order: max → default → defaultRequest ← min.
      fill(limit, 'default', 'max');
      fill(limit, 'defaultRequest', 'default');
      fill(limit, 'defaultRequest', 'min');
    }
  },
};

function fill(limit: Record<string, unknown>, target: string, source: string): void {
  for (const [name, quantity] of Object.entries(optionalFields(limit, source) ?? {})) {
    fieldsAt(limit, target)[name] ??= quantity;
  }
}
