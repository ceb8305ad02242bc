import { randomUUID } from 'node:crypto';
import { type Fields, fieldsAt, listAt, optionalFields } from '../fields/draft-fields.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateLimits } from './validation.ts';

export const limitRangeKind: Kind = {
  groupResource: 'limitranges',
  strategy: {
    createOnUpdate: true,

    applyDefaults(draft) {
      for (const limit of listAt(optionalFields(draft, 'spec'), 'limits')) {
        if (limit.type !== 'Container') continue;
        // What bounds a value is its default, in this order: max → default → defaultRequest ← min.
        fill(limit, 'default', 'max');
        fill(limit, 'defaultRequest', 'default');
        fill(limit, 'defaultRequest', 'min');
      }
    },

    /** Alone among all kinds, it may come without any name. */
    prepareForCreate({ metadata }) {
      metadata.name ||= randomUUID();
    },

    validate: validateLimits,
  },
};

function fill(limit: Fields, target: string, source: string): void {
  for (const [name, quantity] of Object.entries(optionalFields(limit, source) ?? {})) {
    fieldsAt(limit, target)[name] ??= quantity;
  }
}
