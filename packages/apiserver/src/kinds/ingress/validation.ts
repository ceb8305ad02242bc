import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { parseIp } from '../ip/ip-address.ts';
import { invalidValues, validatePortNumber, validateWildcardSubdomain } from '../validation/name-formats.ts';
import { validatePortName } from '../validation/validate-text.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_ENDS = ['/..', '/.'];

/** What is let pass because the object has it already. */
export interface IngressLeniency {
  anySecretName?: boolean;
  anyWildcardRule?: boolean;
}

export function validateIngressSpec(spec: Fields, leniency: IngressLeniency): FieldError[] {
  const faults: FieldError[] = [];
  const rules = listAt(spec, 'rules');
  const backend = optionalFields(spec, 'defaultBackend');
  if (rules.length === 0 && !backend)
    faults.push(invalidValue('spec', spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified'));
  if (backend) faults.push(...validateBackend(backend, 'spec.defaultBackend'));
  faults.push(...rules.flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`, leniency)));
  faults.push(...listAt(spec, 'tls').flatMap((tls, index) => validateTls(tls, `spec.tls[${index}]`, leniency)));
  const { ingressClassName } = spec;
  if (typeof ingressClassName === 'string')
    faults.push(
      ...invalidValues('spec.ingressClassName', ingressClassName, validateDns1123Subdomain(ingressClassName)),
    );
  return faults;
}

export function hasBadSecretName(spec: Fields | undefined): boolean {
  return listAt(spec, 'tls').some((tls) => validateSecretName(textAt(tls, 'secretName')).length > 0);
}

export function allowsAnyWildcardRule(spec: Fields | undefined): boolean {
  return listAt(spec, 'rules').some((rule) => textAt(rule, 'host').includes('*') && validateHttp(rule, '').length > 0);
}

function validateSecretName(name: string): string[] {
  return name === '' ? [] : validateDns1123Subdomain(name);
}

function validateTls(tls: Fields, at: string, { anySecretName }: IngressLeniency): FieldError[] {
  const faults = textsAt(tls, 'hosts').flatMap((host, index) =>
    invalidValues(
      `${at}.hosts[${index}]`,
      host,
      host.includes('*') ? validateWildcardSubdomain(host) : validateDns1123Subdomain(host),
    ),
  );
  const secretName = textAt(tls, 'secretName');
  if (!anySecretName) faults.push(...invalidValues(`${at}.secretName`, secretName, validateSecretName(secretName)));
  return faults;
}

function validateRule(rule: Fields, at: string, { anyWildcardRule }: IngressLeniency): FieldError[] {
  const host = textAt(rule, 'host');
  const isWildcard = host.includes('*');
  const faults: FieldError[] = [];
  if (host !== '') {
    if (parseIp(host)) faults.push(invalidValue(`${at}.host`, host, 'must be a DNS name, not an IP address'));
    const hostFaults = isWildcard ? validateWildcardSubdomain(host) : validateDns1123Subdomain(host);
    faults.push(...invalidValues(`${at}.host`, host, hostFaults));
  }
  return isWildcard && anyWildcardRule ? faults : [...faults, ...validateHttp(rule, at)];
}

function validateHttp(rule: Fields, at: string): FieldError[] {
  const http = optionalFields(rule, 'http');
  if (!http) return [];
  const paths = listAt(http, 'paths');
  if (paths.length === 0) return [fieldRequired(`${at}.http.paths`)];
  return paths.flatMap((path, index) => validatePath(path, `${at}.http.paths[${index}]`));
}

function validatePath(path: Fields, at: string): FieldError[] {
  if (path.pathType === undefined) return [fieldRequired(`${at}.pathType`, 'pathType must be specified')];
  const faults: FieldError[] = [];
  const text = textAt(path, 'path');
  const type = textAt(path, 'pathType');
  const fault = (detail: string): FieldError => invalidValue(`${at}.path`, text, detail);
  if (!PATH_TYPES.includes(type)) faults.push(fieldNotSupported(`${at}.pathType`, type, PATH_TYPES));
  else {
    const optional = type === 'ImplementationSpecific' && text === '';
    if (!optional && !text.startsWith('/')) faults.push(fault('must be an absolute path'));
    if (type !== 'ImplementationSpecific') {
      for (const bad of BAD_SEQUENCES) if (text.includes(bad)) faults.push(fault(`must not contain '${bad}'`));
      for (const bad of BAD_ENDS) if (text.endsWith(bad)) faults.push(fault(`cannot end with '${bad}'`));
    }
  }
  return [...faults, ...validateBackend(optionalFields(path, 'backend') ?? {}, `${at}.backend`)];
}

function validateBackend(backend: Fields, at: string): FieldError[] {
  const resource = optionalFields(backend, 'resource');
  const service = optionalFields(backend, 'service');
  if (resource && service) return [invalidValue(at, '', 'cannot set both resource and service backends')];
  if (resource) return validateTypedReference(resource, `${at}.resource`);
  if (!service) return [invalidValue(at, '', 'resource or service backend is required')];
  const name = textAt(service, 'name');
  const faults =
    name === ''
      ? [fieldRequired(`${at}.service.name`)]
      : invalidValues(`${at}.service.name`, name, validateDns1123Label(name));
  const port = optionalFields(service, 'port');
  const portName = textAt(port, 'name');
  const portNumber = numberAt(port, 'number') ?? 0;
  if (portName !== '' && portNumber !== 0) faults.push(invalidValue(at, '', 'cannot set both port name & port number'));
  else if (portName !== '')
    faults.push(...invalidValues(`${at}.service.port.name`, portName, validatePortName(portName)));
  else if (portNumber !== 0) faults.push(...validatePortNumber(portNumber, `${at}.service.port.number`));
  else faults.push(fieldRequired(at, 'port name or number is required'));
  return faults;
}

/** The faults of group, kind and name of a reference. */
export function validateTypedReference(reference: Fields, at: string): FieldError[] {
  const faults: FieldError[] = [];
  const { apiGroup } = reference;
  if (typeof apiGroup === 'string')
    faults.push(...invalidValues(`${at}.apiGroup`, apiGroup, validateDns1123Subdomain(apiGroup)));
  for (const key of ['kind', 'name']) {
    const text = textAt(reference, key);
    if (text === '') faults.push(fieldRequired(`${at}.${key}`));
    else faults.push(...invalidValues(`${at}.${key}`, text, validatePathSegmentName(text)));
  }
  return faults;
}
