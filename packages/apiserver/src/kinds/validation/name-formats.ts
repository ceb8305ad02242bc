import { type FieldError, fieldRequired, validateDns1123Subdomain } from '@asterism/machinery';
import { invalidValue } from '../../registry/invalid-value.ts';

/*
 * Rules for texts other than names of objects, in the words of `k8s.io/apimachinery/pkg/util/validation`. As in machinery's
 * `names`, a function that takes only a text gives its faults; one that takes a field gives field errors.
 */

const WILDCARD_SUBDOMAIN = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const PATH_TEXT = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `*.example.com`. */
export function validateWildcardSubdomain(text: string): string[] {
  const faults = text.length > 253 ? ['must be no more than 253 characters'] : [];
  if (new RegExp(`^${WILDCARD_SUBDOMAIN}$`).test(text)) return faults;
  return [
    ...faults,
    `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${WILDCARD_SUBDOMAIN}')`,
  ];
}

/** A name with at least three labels, as webhooks have: `policy.example.com`. */
export function validateQualifiedDomain(text: string, at: string): FieldError[] {
  if (text === '') return [fieldRequired(at)];
  const faults = validateDns1123Subdomain(text);
  if (faults.length > 0) return [invalidValue(at, text, faults.join(','))];
  if (text.split('.').length >= 3) return [];
  return [invalidValue(at, text, 'should be a domain with at least three segments separated by dots')];
}

/** A domain name with at least two labels, which may end with a dot: `www.example.com`. */
export function validateDomainName(text: string, at: string): FieldError[] {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (text === '') return [fieldRequired(at)];
  const faults = validateDns1123Subdomain(name);
  if (faults.length > 0) return [invalidValue(at, name, faults.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    return [invalidValue(at, name, 'should be a domain with at least two segments separated by dots')];
  }
  return labels
    .filter((label) => label.length > 63)
    .map((label) => invalidValue(at, label, 'must be no more than 63 characters'));
}

/** `acme.io/foo`: a domain and a path. */
export function validateDomainPrefixedPath(text: string, at: string): FieldError[] {
  if (text === '') return [fieldRequired(at)];
  const slash = text.indexOf('/');
  const domain = text.slice(0, Math.max(slash, 0));
  const path = text.slice(slash + 1);
  if (slash < 0 || domain === '' || path === '') {
    return [invalidValue(at, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const faults = validateDns1123Subdomain(domain).map((fault) => invalidValue(at, domain, fault));
  if (!PATH_TEXT.test(path)) {
    faults.push(
      invalidValue(
        at,
        path,
        "Invalid path (e.g. 'path/to/resource', regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
      ),
    );
  }
  return faults;
}

export function validatePortNumber(number: number, at: string): FieldError[] {
  return number >= 1 && number <= 65_535 ? [] : [invalidValue(at, number, 'must be between 1 and 65535, inclusive')];
}

/** A fault of `at` for each of `faults`. */
export function invalidValues(at: string, value: unknown, faults: readonly string[]): FieldError[] {
  return faults.map((fault) => invalidValue(at, value, fault));
}
