import { deepEqual, type FieldError, type KubeObject } from '@asterism/machinery';
import { forbiddenField, invalidValue, required, type Strategy } from '../strategy.ts';
import { fieldsAt, optionalFields, setDefaultText, textAt } from './draft-fields.ts';

/** Keys that a Secret of the type must have. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};
const DATA_LIMIT = 1024 * 1024;

export const secretStrategy: Strategy = {
  selectableFields: { type: (object) => textAt(object, 'type') },

  applyDefaults(draft) {
    setDefaultText(draft, 'type', 'Opaque');
    // Written in clear by people, kept in base64 like the rest, never shown again.
    for (const [key, value] of Object.entries(optionalFields(draft, 'stringData') ?? {})) {
      fieldsAt(draft, 'data')[key] = Buffer.from(String(value)).toString('base64');
    }
    delete draft.stringData;
  },

  validate(object) {
    const data = optionalFields(object, 'data') ?? {};
    const errors: FieldError[] = validateDataKeys(data, 'data');
    for (const key of REQUIRED_KEYS[textAt(object, 'type')] ?? []) {
      if (data[key] === undefined) errors.push(required(`data[${key}]`));
    }
    const bytes = Object.values(data).reduce<number>(
      (sum, value) => sum + Buffer.byteLength(String(value), 'base64'),
      0,
    );
    if (bytes > DATA_LIMIT) {
      errors.push({
        type: 'FieldValueTooLong',
        field: 'data',
        message: `Too long: may not be more than ${DATA_LIMIT} bytes`,
      });
    }
    return errors;
  },

  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    if (object.type !== old.type) errors.push(invalidValue('type', object.type, 'field is immutable'));
    return [...errors, ...validateImmutableData(object, old, ['data'])];
  },
};

/** Keys of a ConfigMap or Secret are file names. */
export function validateDataKeys(data: object, at: string): FieldError[] {
  return Object.keys(data).flatMap((key) => {
    const faults: string[] = [];
    if (key.length > 253) faults.push('must be no more than 253 characters');
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
      faults.push(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      );
    } else if (key === '.' || key === '..') faults.push(`must not be '${key}'`);
    else if (key.startsWith('..')) faults.push("must not start with '..'");
    return faults.map((fault) => invalidValue(`${at}[${key}]`, key, fault));
  });
}

/** `immutable: true` can neither be taken back nor be got round. */
export function validateImmutableData(object: KubeObject, old: KubeObject, parts: readonly string[]): FieldError[] {
  if (old.immutable !== true) return [];
  const errors: FieldError[] = [];
  if (object.immutable !== true) errors.push(forbiddenField('immutable', 'field is immutable when `immutable` is set'));
  for (const part of parts) {
    if (!deepEqual(object[part] ?? {}, old[part] ?? {})) {
      errors.push(forbiddenField(part, 'field is immutable when `immutable` is set'));
    }
  }
  return errors;
}
