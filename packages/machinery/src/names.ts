import { cutForMessage } from './cut-for-message.ts';
import type { FieldError } from './status.ts';

/*
 * The rules for names, label keys and label values, in the words of `k8s.io/apimachinery/pkg/util/validation` (1.36). Each
 * `validateX` gives the faults of a text, none if it is valid; a caller puts the field and the value before them.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

const LABEL_TEXT = new RegExp(`^${LABEL}$`);
const SUBDOMAIN_TEXT = new RegExp(`^${SUBDOMAIN}$`);
const DNS1035_LABEL_TEXT = new RegExp(`^${DNS1035_LABEL}$`);
const QUALIFIED_NAME_TEXT = new RegExp(`^${QUALIFIED_NAME}$`);
const LABEL_VALUE_TEXT = new RegExp(`^${LABEL_VALUE}$`);

/** Annotations of one object may have this many bytes in all, keys and values. */
const ANNOTATIONS_BYTES = 256 * 1024;

const GENERATED_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const GENERATED_LENGTH = 5;
const GENERATED_BASE_LENGTH = 63 - GENERATED_LENGTH;

/** RFC 1123 label, at most 63 characters: names of namespaces and services. */
export function validateDns1123Label(text: string): string[] {
  const faults = tooLong(text, 63, 'characters');
  if (LABEL_TEXT.test(text)) return faults;
  if (SUBDOMAIN_TEXT.test(text)) return [...faults, 'must not contain dots'];
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...faults, explain(rule, LABEL, 'my-name', '123-abc')];
}

/** RFC 1123 subdomain, at most 253 characters: names of most objects, API groups, label prefixes. */
export function validateDns1123Subdomain(text: string): string[] {
  const faults = tooLong(text, 253, 'characters');
  return SUBDOMAIN_TEXT.test(text) ? faults : [...faults, subdomainRule()];
}

/** RFC 1035 label, at most 63 characters: as the above, but it begins with a letter. Names of kinds in URLs. */
export function validateDns1035Label(text: string): string[] {
  const faults = tooLong(text, 63, 'characters');
  if (DNS1035_LABEL_TEXT.test(text)) return faults;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...faults, explain(rule, DNS1035_LABEL, 'my-name', 'abc-123')];
}

/** What must hold of every name that stands in a URL; all that is asked of the RBAC kinds' names. */
export function validatePathSegmentName(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%']
    .filter((character) => text.includes(character))
    .map((character) => `may not contain '${character}'`);
}

/** `name` or `prefix/name`: keys of labels, annotations and finalizers, condition types. */
export function validateQualifiedName(text: string): string[] {
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const ruleText = (): string => explain(rule, QUALIFIED_NAME, 'MyName', 'my.name', '123-abc');
  const parts = text.split('/');
  if (parts.length > 2) {
    return [`a qualified name ${ruleText()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const faults: string[] = [];
  const name = parts.at(-1) ?? '';
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') faults.push('prefix part must be non-empty');
    else {
      faults.push(...tooLong(prefix, 253, 'bytes').map((fault) => `prefix part ${fault}`));
      if (!SUBDOMAIN_TEXT.test(prefix)) faults.push(`prefix part ${subdomainRule()}`);
    }
  }
  if (name === '') faults.push('name part must be non-empty');
  else faults.push(...tooLong(name, 63, 'bytes').map((fault) => `name part ${fault}`));
  if (!QUALIFIED_NAME_TEXT.test(name)) faults.push(`name part ${ruleText()}`);
  return faults;
}

export function validateLabelKey(text: string): string[] {
  return validateQualifiedName(text);
}

export function validateLabelValue(text: string): string[] {
  const faults = tooLong(text, 63, 'bytes');
  if (LABEL_VALUE_TEXT.test(text)) return faults;
  const rule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...faults, explain(rule, LABEL_VALUE, 'MyValue', 'my_value', '12345')];
}

/** The faults of a `labels` map that stands at `field`, e.g. `metadata.labels`. */
export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...validateLabelKey(key).map((fault) => invalidValue(field, key, fault)),
    ...validateLabelValue(value).map((fault) => invalidValue(field, value, fault)),
  ]);
}

/** The faults of an `annotations` map: its keys, and its size in all. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([key]) =>
    validateQualifiedName(key.toLowerCase()).map((fault) => invalidValue(field, key, fault)),
  );
  const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (bytes > ANNOTATIONS_BYTES) {
    const message = `Too long: may not be more than ${ANNOTATIONS_BYTES} bytes`;
    errors.push({ type: 'FieldValueTooLong', field, message });
  }
  return errors;
}

/**
 * A name from `metadata.generateName`: the base, cut to 58 characters, and five letters that cannot form a word.
 *
 * @param random numbers from 0 up to, not including, 1, as `Math.random` gives them
 */
export function generateName(base: string, random: () => number): string {
  let name = base.slice(0, GENERATED_BASE_LENGTH);
  for (let i = 0; i < GENERATED_LENGTH; i += 1) {
    name += GENERATED_LETTERS.charAt(Math.floor(random() * GENERATED_LETTERS.length));
  }
  return name;
}

function subdomainRule(): string {
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return explain(rule, SUBDOMAIN, 'example.com');
}

/** The doubled blank before `or` is Kubernetes' own. */
function explain(rule: string, pattern: string, ...examples: string[]): string {
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;
}

function tooLong(text: string, limit: number, unit: 'bytes' | 'characters'): string[] {
  return byteLength(text) > limit ? [`must be no more than ${limit} ${unit}`] : [];
}

function byteLength(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function invalidValue(field: string, value: string, fault: string): FieldError {
  return {
    type: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(cutForMessage(value))}: ${fault}`,
  };
}
