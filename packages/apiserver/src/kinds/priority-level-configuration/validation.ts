import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

export const EXEMPT = 'exempt';
const TYPES = ['Exempt', 'Limited'];
const RESPONSES = ['Queue', 'Reject'];
const MAX_QUEUES = 10_000_000;
const MAX_HASH_BITS = 60;

/** Of FlowSchemas too: conditions have a type, each its own. */
export function validateConditionTypes(object: KubeObject): FieldError[] {
  const types = new Set<string>();
  return listAt(optionalFields(object, 'status'), 'conditions').flatMap((condition, index) => {
    const at = `status.conditions[${index}].type`;
    const type = textAt(condition, 'type');
    const faults = types.has(type) ? [duplicateValue(at, type)] : [];
    types.add(type);
    return type === '' ? [...faults, fieldRequired(at, 'must not be empty')] : faults;
  });
}

export function validateSpec(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const type = textAt(spec, 'type');
  const limited = optionalFields(spec, 'limited');
  const exempt = optionalFields(spec, EXEMPT);
  const faults: FieldError[] = [];
  if ((object.metadata?.name === EXEMPT) !== (type === 'Exempt'))
    faults.push(invalidValue('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'"));
  if (type === 'Exempt') {
    if (limited) faults.push(fieldForbidden('spec.limited', 'must be nil if the type is not Limited'));
    if (exempt) faults.push(...validateShares(exempt, 'spec.exempt'));
  } else if (type === 'Limited') {
    if (exempt) faults.push(fieldForbidden('spec.exempt', 'must be nil if the type is Limited'));
    if (limited) faults.push(...validateLimited(limited, 'spec.limited'));
    else faults.push(fieldRequired('spec.limited', 'must not be empty when type is Limited'));
  } else faults.push(fieldNotSupported('spec.type', type, TYPES));
  return faults;
}

function validateShares(level: Fields, at: string): FieldError[] {
  const shares = numberAt(level, 'nominalConcurrencyShares') ?? 0;
  const percent = numberAt(level, 'lendablePercent') ?? 0;
  const faults: FieldError[] = [];
  if (shares < 0) faults.push(invalidValue(`${at}.nominalConcurrencyShares`, shares, 'must be a non-negative integer'));
  if (percent < 0 || percent > 100)
    faults.push(invalidValue(`${at}.lendablePercent`, percent, 'must be between 0 and 100, inclusive'));
  return faults;
}

function validateLimited(limited: Fields, at: string): FieldError[] {
  const response = optionalFields(limited, 'limitResponse') ?? {};
  const type = textAt(response, 'type');
  const queuing = optionalFields(response, 'queuing');
  const within = `${at}.limitResponse`;
  const faults = validateShares(limited, at);
  if (type === 'Reject') {
    const detail = 'must be nil if limited.limitResponse.type is not Limited';
    if (queuing) faults.push(fieldForbidden(`${within}.queuing`, detail));
  } else if (type === 'Queue') {
    const detail = 'must not be empty if limited.limitResponse.type is Limited';
    faults.push(
      ...(queuing ? validateQueuing(queuing, `${within}.queuing`) : [fieldRequired(`${within}.queuing`, detail)]),
    );
  } else faults.push(fieldNotSupported(`${within}.type`, type, RESPONSES));
  const borrowing = numberAt(limited, 'borrowingLimitPercent');
  if (borrowing !== undefined && borrowing < 0)
    faults.push(invalidValue(`${at}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer'));
  return faults;
}

function validateQueuing(queuing: Fields, at: string): FieldError[] {
  const queues = numberAt(queuing, 'queues') ?? 0;
  const handSize = numberAt(queuing, 'handSize') ?? 0;
  const limit = numberAt(queuing, 'queueLengthLimit') ?? 0;
  const faults = limit <= 0 ? [invalidValue(`${at}.queueLengthLimit`, limit, 'must be positive')] : [];
  if (queues <= 0) faults.push(invalidValue(`${at}.queues`, queues, 'must be positive'));
  else if (queues > MAX_QUEUES)
    faults.push(invalidValue(`${at}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  const fault = handFault(queues, handSize);
  return fault === undefined ? faults : [...faults, invalidValue(`${at}.handSize`, handSize, fault)];
}

/** A hand of so many of the queues must be told by the bits of a hash. */
function handFault(queues: number, handSize: number): string | undefined {
  if (handSize <= 0) return 'must be positive';
  if (handSize > queues) return `should not be greater than queues (${queues})`;
  let bits = 0;
  for (let dealt = 0; dealt < handSize; dealt++) bits += Math.log2(queues - dealt);
  if (Math.ceil(bits) <= MAX_HASH_BITS) return undefined;
  return `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`;
}
