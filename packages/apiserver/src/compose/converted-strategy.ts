import type { KubeObject } from '@asterism/machinery';
import type { Conversion } from '../contract/conversion.ts';
import type { Draft, Strategy } from '../contract/strategy.ts';

/**
 * The rules of a kind for a version of another shape: they read and change the stored form. What the kind prepares is left out: it
 * drops fields that only the older version has.
 */
export function convertedStrategy(strategy: Strategy, { toStorage, fromStorage }: Conversion): Strategy {
  const change = (draft: Draft, act: (stored: Draft) => void): void => {
    const stored = toStorage(draft) as Draft;
    act(stored);
    const { metadata: _, ...rest } = fromStorage(stored) as Draft;
    for (const key of Object.keys(draft)) if (key !== 'metadata' && !Object.hasOwn(rest, key)) delete draft[key];
    Object.assign(draft, rest);
  };
  const { prepareForCreate: _create, prepareForUpdate: _update, applyDefaults, ...rules } = strategy;
  const { validate, validateCreate, validateUpdate, validateStatus, warnings } = rules;
  const stored = (object: KubeObject): KubeObject => toStorage(object);
  return {
    ...rules,
    ...(applyDefaults && { applyDefaults: (draft) => change(draft, applyDefaults) }),
    ...(validate && { validate: (object) => validate(stored(object)) }),
    ...(validateCreate && { validateCreate: (object) => validateCreate(stored(object)) }),
    ...(validateUpdate && { validateUpdate: (object, old) => validateUpdate(stored(object), stored(old)) }),
    ...(validateStatus && { validateStatus: (object, old) => validateStatus(stored(object), stored(old)) }),
    ...(warnings && { warnings: (object, old) => warnings(stored(object), old && stored(old)) }),
  };
}
