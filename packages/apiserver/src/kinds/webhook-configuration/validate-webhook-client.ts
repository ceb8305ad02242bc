import { type FieldError, fieldRequired, validateDns1123Subdomain } from '@asterism/machinery';
import { type Fields, numberAt, textAt } from '../fields/draft-fields.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const FORM = '; desired format: https://host[/path]';

/** The faults of a webhook's URL. */
export function validateWebhookUrl(text: string, at: string): FieldError[] {
  const [beforeFragment, fragment] = splitOnce(text, '#');
  const [beforeQuery, query] = splitOnce(beforeFragment, '?');
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*)$/s.exec(beforeQuery) ?? [];
  const authority = rest.startsWith('//') ? (rest.slice(2).split('/')[0] ?? '') : '';
  const userEnd = authority.lastIndexOf('@');
  const faults: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https')
    faults.push(invalidValue(at, scheme.toLowerCase(), `'https' is the only allowed URL scheme${FORM}`));
  if (authority.slice(userEnd + 1) === '') faults.push(invalidValue(at, '', `host must be specified${FORM}`));
  if (userEnd >= 0)
    faults.push(invalidValue(at, authority.slice(0, userEnd), 'user information is not permitted in the URL'));
  if (fragment !== '') faults.push(invalidValue(at, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') faults.push(invalidValue(at, query, 'query parameters are not permitted in the URL'));
  return faults;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** The faults of a reference to a webhook's Service. */
export function validateWebhookService(service: Fields, at: string): FieldError[] {
  const faults: FieldError[] = [];
  if (textAt(service, 'name') === '') faults.push(fieldRequired(`${at}.name`, 'service name is required'));
  if (textAt(service, 'namespace') === '')
    faults.push(fieldRequired(`${at}.namespace`, 'service namespace is required'));
  const port = numberAt(service, 'port') ?? 0;
  if (port < 1 || port > 65_535)
    faults.push(invalidValue(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  const { path } = service;
  return typeof path === 'string' ? [...faults, ...validatePath(path, `${at}.path`)] : faults;
}

function validatePath(path: string, at: string): FieldError[] {
  if (path === '/' || path === '') return [];
  if (path === '//') return [invalidValue(at, path, 'segment[0] may not be empty')];
  if (!path.startsWith('/')) return [invalidValue(at, path, "must start with a '/'")];
  const steps = path.slice(1).replace(/\/$/, '').split('/');
  return steps.flatMap((step, index) => {
    if (step === '') return [invalidValue(at, path, `segment[${index}] may not be empty`)];
    return validateDns1123Subdomain(step).map((fault) => invalidValue(at, path, `segment[${index}]: ${fault}`));
  });
}
