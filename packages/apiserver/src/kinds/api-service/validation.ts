import {
  type FieldError,
  fieldRequired,
  type KubeObject,
  validateDns1035Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '@asterism/machinery';
import { type Fields, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { invalidValues, validatePortNumber } from '../validation/name-formats.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;

export function validateApiService(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const group = textAt(spec, 'group');
  const version = textAt(spec, 'version');
  const wanted = `${version}.${group}`;
  const { name = '' } = object.metadata ?? {};
  const faults: FieldError[] = [];
  if (validatePathSegmentName(name).length === 0 && name !== wanted)
    faults.push(
      invalidValue('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`),
    );
  if (group === '' && version !== 'v1')
    faults.push(fieldRequired('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  if (group !== '') faults.push(...invalidValues('spec.group', group, validateDns1123Subdomain(group)));
  faults.push(...invalidValues('spec.version', version, validateDns1035Label(version)));
  faults.push(...validatePriority(spec, 'groupPriorityMinimum', MAX_GROUP_PRIORITY));
  faults.push(...validatePriority(spec, 'versionPriority', MAX_VERSION_PRIORITY));
  return [...faults, ...validateBackend(spec)];
}

function validatePriority(spec: Fields, key: string, most: number): FieldError[] {
  const priority = numberAt(spec, key) ?? 0;
  if (priority > 0 && priority <= most) return [];
  return [invalidValue(`spec.${key}`, priority, `must be positive and less than ${most}`)];
}

function validateBackend(spec: Fields): FieldError[] {
  const service = optionalFields(spec, 'service');
  const caBundle = textAt(spec, 'caBundle');
  const insecure = spec.insecureSkipTLSVerify === true;
  const faults: FieldError[] = [];
  if (!service) {
    const bytes = `${Buffer.byteLength(caBundle, 'base64')} bytes`;
    if (caBundle !== '') faults.push(invalidValue('spec.caBundle', bytes, 'local APIServices may not have a caBundle'));
    if (insecure)
      faults.push(
        invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'),
      );
    return faults;
  }
  for (const key of ['namespace', 'name'])
    if (textAt(service, key) === '') faults.push(fieldRequired(`spec.service.${key}`));
  const port = numberAt(service, 'port') ?? 0;
  if (validatePortNumber(port, '').length > 0)
    faults.push(invalidValue('spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive'));
  if (insecure && caBundle !== '')
    faults.push(invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  return faults;
}
