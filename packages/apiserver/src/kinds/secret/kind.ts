import { deepEqual } from '@asterism/machinery';
import { validateImmutableData } from '../config-map/data-keys.ts';
import { fieldsAt, optionalFields, setDefaultText, textAt } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { keyPairWarning } from './key-pair-warning.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateSecret } from './validation.ts';

export const secretKind: Kind = {
  groupResource: 'secrets',
  strategy: {
    metadataChecks: 4,
    selectableFields: { type: (object) => textAt(object, 'type') },

    applyDefaults(draft) {
      setDefaultText(draft, 'type', 'Opaque');
      // Written in clear by people, kept in base64 like the rest, never shown again.
      for (const [key, value] of Object.entries(optionalFields(draft, 'stringData') ?? {})) {
        fieldsAt(draft, 'data')[key] = Buffer.from(String(value)).toString('base64');
      }
      delete draft.stringData;
    },

    warnings(object, old) {
      if (object.type !== 'kubernetes.io/tls' || (old && deepEqual(object.data ?? null, old.data ?? null))) return [];
      const text = (key: string): string =>
        Buffer.from(textAt(optionalFields(object, 'data'), key), 'base64').toString('latin1');
      const warning = keyPairWarning(text('tls.crt'), text('tls.key'));
      return warning === undefined ? [] : [warning];
    },

    validateCreate: validateSecret,
    validateUpdate: (object, old) => [
      ...validateImmutable(object, old, '', ['type']),
      ...validateImmutableData(object, old, ['data']),
      ...validateSecret(object),
    ],
  },
};
