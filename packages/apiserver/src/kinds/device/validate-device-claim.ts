import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  seenBefore,
  validateAnnotations,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelKey,
  validateLabels,
  validateLabelValue,
} from '@asterism/machinery';
import { validateDriverName } from '../persistent-volume/validation.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const MAX_ITEMS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_TOLERATIONS = 16;
const MAX_EXPRESSION_BYTES = 10 * 1024;
const MAX_PARAMETERS_BYTES = 10 * 1024;
const ALLOCATION_MODES = ['All', 'ExactCount'];
const OPERATORS = ['Equal', 'Exists'];
const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];

/** The faults of a ResourceClaim's spec, but for those of its expressions. */
export function validateClaimSpec(spec: Fields, at: string): FieldError[] {
  const devices = optionalFields(spec, 'devices') ?? {};
  const requests = listAt(devices, 'requests');
  const names = new Set(requests.flatMap(namesOf));
  const within = `${at}.devices`;
  return [
    ...validateList(requests, `${within}.requests`, MAX_ITEMS, validateRequest),
    ...validateDistinct(requests, `${within}.requests`),
    ...validateList(listAt(devices, 'constraints'), `${within}.constraints`, MAX_ITEMS, (constraint, place) =>
      validateConstraint(constraint, place, names),
    ),
    ...validateList(listAt(devices, 'config'), `${within}.config`, MAX_ITEMS, (config, place) => [
      ...validateReferences(config, `${place}.requests`, names),
      ...validateDeviceConfiguration(config, place),
    ]),
  ];
}

/** Only labels and annotations of the metadata of a template come to be of the claim. */
export function validateTemplateMetadata(metadata: Fields, at: string): FieldError[] {
  const { labels, annotations, ...rest } = metadata;
  return [
    ...validateAnnotations((annotations ?? {}) as Record<string, string>, `${at}.annotations`),
    ...validateLabels((labels ?? {}) as Record<string, string>, `${at}.labels`),
    ...Object.entries(rest)
      .filter(([, value]) => value !== null && value !== '' && value !== 0)
      .map(([key]) => fieldForbidden(`${at}.${key}`, 'cannot be set')),
  ];
}

export function validateList(
  items: readonly Fields[],
  at: string,
  most: number,
  validateItem: (item: Fields, at: string) => FieldError[],
): FieldError[] {
  return [
    ...(items.length > most ? [fieldTooMany(at, items.length, most)] : []),
    ...items.flatMap((item, index) => validateItem(item, `${at}[${index}]`)),
  ];
}

export function validateDistinct(items: readonly Fields[], at: string, key = 'name'): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const name = textAt(item, key);
    if (seen.has(name)) return [duplicateValue(`${at}[${index}]`, name)];
    seen.add(name);
    return [];
  });
}

function namesOf(request: Fields): string[] {
  const name = textAt(request, 'name');
  return [name, ...listAt(request, 'firstAvailable').map((each) => `${name}/${textAt(each, 'name')}`)];
}

function validateRequestName(name: string, at: string): FieldError[] {
  return name === '' ? [fieldRequired(at)] : invalidValues(at, name, validateDns1123Label(name));
}

function validateRequest(request: Fields, at: string): FieldError[] {
  const faults = validateRequestName(textAt(request, 'name'), `${at}.name`);
  const exactly = optionalFields(request, 'exactly');
  const alternatives = listAt(request, 'firstAvailable');
  const detail = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly && alternatives.length > 0)
    return [...faults, invalidValue(at, null, `${detail}, but multiple fields are set`)];
  if (exactly) return [...faults, ...validateDeviceRequest(exactly, `${at}.exactly`)];
  if (alternatives.length === 0) return [...faults, fieldRequired(at, detail)];
  return [
    ...faults,
    ...validateList(alternatives, `${at}.firstAvailable`, MAX_ALTERNATIVES, (alternative, place) => [
      ...validateRequestName(textAt(alternative, 'name'), `${place}.name`),
      ...validateDeviceRequest(alternative, place),
    ]),
    ...validateDistinct(alternatives, `${at}.firstAvailable`),
  ];
}

function validateDeviceRequest(request: Fields, at: string): FieldError[] {
  const className = textAt(request, 'deviceClassName');
  const faults =
    className === ''
      ? [fieldRequired(`${at}.deviceClassName`)]
      : invalidValues(`${at}.deviceClassName`, className, validateDns1123Subdomain(className));
  faults.push(...validateSelectors(listAt(request, 'selectors'), `${at}.selectors`));
  const mode = textAt(request, 'allocationMode');
  const count = numberAt(request, 'count') ?? 0;
  if (!ALLOCATION_MODES.includes(mode)) faults.push(fieldNotSupported(`${at}.allocationMode`, mode, ALLOCATION_MODES));
  else if (mode === 'All' && count !== 0)
    faults.push(invalidValue(`${at}.count`, count, "must not be specified when allocationMode is 'All'"));
  else if (mode === 'ExactCount' && count <= 0)
    faults.push(invalidValue(`${at}.count`, count, 'must be greater than zero'));
  const tolerations = listAt(request, 'tolerations');
  return [...faults, ...validateList(tolerations, `${at}.tolerations`, MAX_TOLERATIONS, validateToleration)];
}

export function validateSelectors(selectors: readonly Fields[], at: string): FieldError[] {
  return validateList(selectors, at, MAX_ITEMS, (selector, place) => {
    const cel = optionalFields(selector, 'cel');
    if (!cel) return [fieldRequired(`${place}.cel`)];
    const bytes = Buffer.byteLength(textAt(cel, 'expression'));
    return bytes > MAX_EXPRESSION_BYTES ? [fieldTooLong(`${place}.cel.expression`, MAX_EXPRESSION_BYTES)] : [];
  });
}

function validateToleration(toleration: Fields, at: string): FieldError[] {
  const key = textAt(toleration, 'key');
  const value = textAt(toleration, 'value');
  const operator = textAt(toleration, 'operator');
  const effect = textAt(toleration, 'effect');
  const faults = key === '' ? [] : invalidValues(`${at}.key`, key, validateLabelKey(key));
  if (operator === 'Exists' && value !== '')
    faults.push(invalidValue(`${at}.value`, value, 'must be empty for operator `Exists`'));
  if (operator === 'Equal') faults.push(...invalidValues(`${at}.value`, value, validateLabelValue(value)));
  if (operator === 'Equal' && key === '')
    faults.push(fieldRequired(`${at}.key`, 'must be specified for operator `Equal`'));
  if (operator === '') faults.push(fieldRequired(`${at}.operator`));
  else if (!OPERATORS.includes(operator)) faults.push(fieldNotSupported(`${at}.operator`, operator, OPERATORS));
  if (effect !== '' && !EFFECTS.includes(effect)) faults.push(fieldNotSupported(`${at}.effect`, effect, EFFECTS));
  return faults;
}

function validateReferences(parent: Fields, at: string, names: ReadonlySet<string>): FieldError[] {
  const references = textsAt(parent, 'requests');
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const faults = references.length > MAX_ITEMS ? [fieldTooMany(at, references.length, MAX_ITEMS)] : [];
  const isRepeated = seenBefore<string>();
  for (const [index, name] of references.entries()) {
    const place = `${at}[${index}]`;
    const segments = name.split('/');
    if (segments.length <= 2) faults.push(...segments.flatMap((segment) => validateRequestName(segment, place)));
    if (segments.length > 2 || !names.has(name)) faults.push(invalidValue(place, name, detail));
    if (isRepeated(name)) faults.push(duplicateValue(place, name));
  }
  return faults;
}

function validateConstraint(constraint: Fields, at: string, names: ReadonlySet<string>): FieldError[] {
  const faults = validateReferences(constraint, `${at}.requests`, names);
  const key = ['matchAttribute', 'distinctAttribute'].find((each) => constraint[each] !== undefined);
  if (!key) {
    const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
    return [...faults, fieldRequired(at, detail)];
  }
  return [...faults, ...validateFullName(textAt(constraint, key), `${at}.${key}`)];
}

const C_IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_DOMAIN_LENGTH = 63;
const MAX_ID_LENGTH = 32;

/** `domain/id`: a name of an attribute of devices. */
function validateFullName(name: string, at: string): FieldError[] {
  if (name === '') return [fieldRequired(at)];
  if (!name.includes('/')) return [...validateQualifiedId(name, at), invalidValue(at, name, 'must include a domain')];
  return validateQualifiedId(name, at);
}

/** `id` or `domain/id`. */
export function validateQualifiedId(name: string, at: string): FieldError[] {
  if (name === '') return [fieldRequired(at)];
  const parts = name.split('/');
  if (parts.length > 2) return [invalidValue(at, name, 'must be a qualified name')];
  const id = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const faults: FieldError[] = [];
  if (domain === '') faults.push(fieldRequired(at, 'the domain must not be empty'));
  else if (domain !== undefined) {
    if (domain.length > MAX_DOMAIN_LENGTH) faults.push(fieldTooLong(at, MAX_DOMAIN_LENGTH));
    faults.push(...invalidValues(at, domain, validateDns1123Subdomain(domain)));
  }
  if (id === '') faults.push(fieldRequired(at, 'the name must not be empty'));
  else {
    if (id.length > MAX_ID_LENGTH) faults.push(fieldTooLong(at, MAX_ID_LENGTH));
    if (!C_IDENTIFIER.test(id)) faults.push(invalidValue(at, id, C_IDENTIFIER_RULE));
  }
  return faults;
}

const C_IDENTIFIER_RULE =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** Of claims and of classes. */
export function validateDeviceConfiguration(config: Fields, at: string): FieldError[] {
  const opaque = optionalFields(config, 'opaque');
  if (!opaque) return [fieldRequired(`${at}.opaque`)];
  const faults = new Faults();
  validateDriverName(textAt(opaque, 'driver'), FieldPath.of(`${at}.opaque.driver`), faults);
  const { parameters } = opaque;
  const place = `${at}.opaque.parameters`;
  if (parameters === undefined || parameters === null) return [...faults.found, fieldRequired(place)];
  const bytes = Buffer.byteLength(JSON.stringify(parameters));
  return bytes > MAX_PARAMETERS_BYTES ? [...faults.found, fieldTooLong(place, MAX_PARAMETERS_BYTES)] : faults.found;
}
