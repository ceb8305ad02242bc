import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  validateDns1035Label,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import type { DefinitionConversion } from './custom-resource-definition.ts';

type ClientConfig = NonNullable<NonNullable<DefinitionConversion['webhook']>['clientConfig']>;

const AT = 'spec.conversion';
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const URL_FORM = '; desired format: https://host[/path]';

/** Faults of how versions are converted. The webhook itself is not called, but must be one that could be. */
export function validateConversion(
  { strategy = '', webhook }: DefinitionConversion,
  preservesUnknown: boolean,
): FieldError[] {
  const faults: FieldError[] = [];
  if (strategy !== 'None' && preservesUnknown) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    faults.push(fieldInvalid(`${AT}.strategy`, strategy, detail));
  }
  const strategies = ['None', 'Webhook'];
  if (strategy === '') faults.push(fieldRequired(`${AT}.strategy`));
  else if (!strategies.includes(strategy)) faults.push(fieldNotSupported(`${AT}.strategy`, strategy, strategies));
  const { clientConfig } = webhook ?? {};
  const reviewVersions = webhook?.conversionReviewVersions ?? [];
  if (strategy === 'Webhook') {
    faults.push(...validateClient(clientConfig), ...validateReviewVersions(reviewVersions));
    return faults;
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (clientConfig) faults.push(fieldForbidden(`${AT}.webhookClientConfig`, detail));
  if (reviewVersions.length > 0) faults.push(fieldForbidden(`${AT}.conversionReviewVersions`, detail));
  return faults;
}

function validateClient(client: ClientConfig | undefined): FieldError[] {
  const at = `${AT}.webhookClientConfig`;
  if (!client) return [fieldRequired(at, 'required when strategy is set to Webhook')];
  const { url, service } = client;
  if ((url === undefined) === (service === undefined)) {
    return [fieldRequired(at, 'exactly one of url or service is required')];
  }
  return url === undefined ? validateService(service ?? {}, `${at}.service`) : validateUrl(url, `${at}.url`);
}

function validateUrl(text: string, at: string): FieldError[] {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  const [, scheme = '', authority = '', query = '', fragment = ''] = parts ?? [];
  const [host = '', user] = authority.split('@').reverse();
  const faults: FieldError[] = [];
  if (scheme !== 'https') {
    faults.push(fieldInvalid(at, scheme, `'https' is the only allowed URL scheme${URL_FORM}`));
  }
  if (host === '') faults.push(fieldInvalid(at, host, `host must be provided${URL_FORM}`));
  if (user !== undefined) faults.push(fieldInvalid(at, user, 'user information is not permitted in the URL'));
  if (fragment !== '') faults.push(fieldInvalid(at, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') faults.push(fieldInvalid(at, query, 'query parameters are not permitted in the URL'));
  return faults;
}

function validateService(service: NonNullable<ClientConfig['service']>, at: string): FieldError[] {
  const { name = '', namespace = '', port = 443, path } = service;
  const faults: FieldError[] = [];
  if (name === '') faults.push(fieldRequired(`${at}.name`, 'service name is required'));
  if (namespace === '') faults.push(fieldRequired(`${at}.namespace`, 'service namespace is required'));
  if (port < 1 || port > 65535) {
    faults.push(fieldInvalid(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  if (path !== undefined && path !== '' && path !== '/') faults.push(...validatePath(path, `${at}.path`));
  return faults;
}

function validatePath(path: string, at: string): FieldError[] {
  if (path === '//') return [fieldInvalid(at, path, 'segment[0] may not be empty')];
  const faults: FieldError[] = [];
  if (!path.startsWith('/')) faults.push(fieldInvalid(at, path, "must start with a '/'"));
  for (const [i, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    const reasons = step === '' ? [' may not be empty'] : validateDns1123Subdomain(step).map((fault) => `: ${fault}`);
    faults.push(...reasons.map((fault) => fieldInvalid(at, path, `segment[${i}]${fault}`)));
  }
  return faults;
}

function validateReviewVersions(versions: readonly string[]): FieldError[] {
  const at = `${AT}.conversionReviewVersions`;
  if (versions.length === 0) return [fieldRequired(at)];
  const faults: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) faults.push(fieldInvalid(`${at}[${i}]`, version, 'duplicate version'));
    else faults.push(...validateDns1035Label(version).map((fault) => fieldInvalid(`${at}[${i}]`, version, fault)));
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    faults.push(fieldInvalid(at, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return faults;
}
