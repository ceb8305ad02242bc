import { validateDns1123Label, validateDns1123Subdomain } from '@asterism/machinery';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';

export function validateDnsLabel(text: string, at: FieldPath, faults: Faults): void {
  const wrong = validateDns1123Label(text);
  if (wrong.length > 0) faults.invalidEach(at, text, wrong);
}

export function validateSubdomain(text: string, at: FieldPath, faults: Faults): void {
  const wrong = validateDns1123Subdomain(text);
  if (wrong.length > 0) faults.invalidEach(at, text, wrong);
}

/** A name that is one of several, of which the empty one is missing. */
export function validateRequiredChoice(
  value: string | undefined,
  supported: readonly string[],
  at: FieldPath,
  faults: Faults,
): void {
  if (!value) faults.required(at);
  else if (!supported.includes(value)) faults.notSupported(at, value, supported);
}

/** A choice that may be left open. */
export function validateChoice(
  value: string | undefined,
  supported: readonly string[],
  at: FieldPath,
  faults: Faults,
): void {
  if (value !== undefined && !supported.includes(value)) faults.notSupported(at, value, supported);
}

const PORT_CHARACTERS = /^[-a-z0-9]+$/;

/** `IsValidPortName`: an IANA service name. */
export function validatePortName(name: string): string[] {
  const faults: string[] = [];
  if (name.length > 15) faults.push('must be no more than 15 characters');
  if (!PORT_CHARACTERS.test(name))
    faults.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) faults.push('must contain at least one letter (a-z)');
  if (name.includes('--')) faults.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) faults.push('must not begin or end with a hyphen');
  return faults;
}

const PORT_RANGE = 'must be between 1 and 65535, inclusive';

export function validatePortNumber(port: number, at: FieldPath, faults: Faults): void {
  if (port < 1 || port > 65535) faults.invalid(at, port, PORT_RANGE);
}

/** A port by its number or by its name. */
export function validatePort(port: string | number | undefined, at: FieldPath, faults: Faults): void {
  if (typeof port === 'string') faults.invalidEach(at, port, validatePortName(port));
  else validatePortNumber(port ?? 0, at, faults);
}

const RELAXED_ENVIRONMENT_NAME = /^[\x20-\x3c\x3e-\x7e]*$/;

/** `IsRelaxedEnvVarName`. */
export function validateEnvironmentName(name: string): string[] {
  if (name === '') return ['environment variable name must be non-empty'];
  if (RELAXED_ENVIRONMENT_NAME.test(name)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;

/** `IsConfigMapKey`: keys of ConfigMaps and Secrets. */
export function validateConfigKey(key: string): string[] {
  const faults: string[] = [];
  if (key.length > 253) faults.push('must be no more than 253 characters');
  if (!CONFIG_KEY.test(key)) {
    faults.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === '.') faults.push("must not be '.'");
  else if (key === '..') faults.push("must not be '..'");
  else if (key.startsWith('..')) faults.push("must not start with '..'");
  return faults;
}

const HEADER_NAME = /^[-A-Za-z0-9]+$/;

export function validateHeaderName(name: string): string[] {
  if (HEADER_NAME.test(name)) return [];
  return [
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
  ];
}
