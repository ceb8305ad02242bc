import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type KubeObject,
  validateDns1123Label,
} from '@asterism/machinery';
import { type Fields, optionalFields, setDefaults, textAt } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { invalidValues, validateDomainPrefixedPath } from '../validation/name-formats.ts';
import { validateTypedReference } from '../ingress/validation.ts';
import type { Kind } from '../../contract/kind.ts';

const MAX_CONTROLLER_LENGTH = 250;
const SCOPES = ['Cluster', 'Namespace'];

export const ingressClassKind: Kind = {
  groupResource: 'ingressclasses.networking.k8s.io',
  strategy: {
    generation: 'spec',
    metadataChecks: 4,

    applyDefaults(draft) {
      const parameters = optionalFields(optionalFields(draft, 'spec'), 'parameters');
      if (parameters) setDefaults(parameters, { scope: 'Cluster' });
    },

    validateCreate: validateClass,
    validateUpdate: (object, old) => [
      ...validateImmutable(optionalFields(object, 'spec'), optionalFields(old, 'spec'), 'spec', ['controller']),
      ...validateClass(object),
    ],
  },
};

function validateClass(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec');
  const controller = textAt(spec, 'controller');
  const faults: FieldError[] = [];
  if (controller.length > MAX_CONTROLLER_LENGTH) faults.push(fieldTooLong('spec.controller', MAX_CONTROLLER_LENGTH));
  faults.push(...validateDomainPrefixedPath(controller, 'spec.controller'));
  const parameters = optionalFields(spec, 'parameters');
  return parameters ? [...faults, ...validateParameters(parameters)] : faults;
}

function validateParameters(parameters: Fields): FieldError[] {
  const at = 'spec.parameters';
  const faults = validateTypedReference(parameters, at);
  const { scope, namespace } = parameters;
  if (typeof scope !== 'string') return [...faults, fieldRequired(`${at}.scope`)];
  if (!SCOPES.includes(scope)) return [...faults, fieldNotSupported(`${at}.scope`, scope, SCOPES)];
  if (scope === 'Cluster') {
    if (namespace === undefined) return faults;
    return [...faults, fieldForbidden(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'")];
  }
  if (typeof namespace !== 'string')
    return [...faults, fieldRequired(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'")];
  return [...faults, ...invalidValues(`${at}.namespace`, namespace, validateDns1123Label(namespace))];
}
