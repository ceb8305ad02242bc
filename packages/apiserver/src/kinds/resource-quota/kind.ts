import { compareQuantities, isQuantity, type KubeObject, parseQuantity } from '@asterism/machinery';
import { optionalFields, textsAt } from '../fields/draft-fields.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateSpec, validateStatus } from './validation.ts';

export const resourceQuotaKind: Kind = {
  groupResource: 'resourcequotas',
  strategy: {
    returnsDeleted: true,
    validateCreate: (object) => [...validateSpec(object), ...validateStatus(object)],

    validateUpdate(object, old) {
      const faults = validateSpec(object);
      const scopes = textsAt(optionalFields(object, 'spec'), 'scopes');
      const before = textsAt(optionalFields(old, 'spec'), 'scopes');
      const same =
        new Set([...scopes, ...before]).size === new Set(scopes).size && new Set(scopes).size === new Set(before).size;
      if (!same) faults.push(invalidValue('spec.scopes', scopes.length > 0 ? scopes : null, 'field is immutable'));
      return faults;
    },

    validateStatus,

    warnings: (object, old) =>
      old ? [] : ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap(limitWarning(object)),
  },
};

/** A quota that lets more be requested than be used at most. */
function limitWarning(object: KubeObject): (name: string) => string[] {
  const hard = optionalFields(optionalFields(object, 'spec'), 'hard') ?? {};
  return (name) => {
    const bare = name === 'cpu' || name === 'memory' ? [name] : [];
    const requests = [`requests.${name}`, ...bare].find((key) => hard[key] !== undefined);
    const [request, limit] = [hard[requests ?? ''], hard[`limits.${name}`]];
    if (!isQuantity(request) || !isQuantity(limit)) return [];
    if (compareQuantities(parseQuantity(request), parseQuantity(limit)) <= 0) return [];
    return [`ResourceQuota ${requests} (${request}) should be less than limits.${name} (${limit})`];
  };
}
