import {
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedName,
} from '@asterism/machinery';
import { listOf, opaqueType, optionalOf, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { CelOpaque, CelOptional } from '../values/value.ts';
import { parseTimestamp } from '../values/parse-time.ts';
import { parseUrl } from './urls.ts';

const FORMAT = opaqueType('kubernetes.NamedFormat');

class CelFormat extends CelOpaque {
  readonly type = FORMAT;
  readonly name: string;
  readonly validate: (text: string) => string[];
  readonly #patternSize: number;

  constructor(name: string, validate: (text: string) => string[], patternSize: number) {
    super();
    this.name = name;
    this.validate = validate;
    this.#patternSize = patternSize;
  }

  /** Of the regular expression that validating costs as much as. */
  override get size(): number {
    return this.#patternSize;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }
}

/** Names with a suffix to come may end in a dash. Upstream does not look at the character before it. */
function asPrefix(validate: (text: string) => string[]): (text: string) => string[] {
  return (text) => validate(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);
}

function unless(isValid: (text: string) => boolean, fault: string): (text: string) => string[] {
  return (text) => (isValid(text) ? [] : [fault]);
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const FORMATS: readonly [name: string, validate: (text: string) => string[], patternSize: number][] = [
  ['dns1123Label', validateDns1123Label, 30],
  ['dns1123Subdomain', validateDns1123Subdomain, 60],
  ['dns1035Label', validateDns1035Label, 30],
  ['qualifiedName', validateQualifiedName, 60],
  ['dns1123LabelPrefix', asPrefix(validateDns1123Label), 30],
  ['dns1123SubdomainPrefix', asPrefix(validateDns1123Subdomain), 60],
  ['dns1035LabelPrefix', asPrefix(validateDns1035Label), 30],
  ['labelValue', validateLabelValue, 40],
  ['uri', (text) => uriFaults(text), 1000],
  ['uuid', unless((text) => UUID.test(text), 'does not match the UUID format'), 100],
  ['byte', unless((text) => text.length % 4 === 0 && BASE64.test(text), 'invalid base64'), 1000],
  ['date', unless(isDate, 'invalid date'), 100],
  ['datetime', unless(isDateTime, 'invalid datetime'), 100],
];

/** Kubernetes' formats: `format.dns1123Label().validate(text)` has what is wrong with a text. */
export function defineNamedFormats(library: FunctionLibrary): void {
  const formats = new Map<string, CelFormat>();
  for (const [name, validate, patternSize] of FORMATS) {
    const format = new CelFormat(name, validate, patternSize);
    formats.set(name, format);
    library.define(`format.${name}`, `format-${name}`, [], FORMAT, () => format);
  }
  library.define(
    'format.named',
    'format-named',
    [STRING],
    optionalOf(FORMAT),
    ([name]: readonly [string]) => new CelOptional(formats.get(name)),
  );
  library.method(
    'validate',
    'format-validate',
    [FORMAT, STRING],
    optionalOf(listOf(STRING)),
    ([format, text]: readonly [CelFormat, string], meter) => {
      meter.work(text.length);
      const faults = format.validate(text);
      return faults.length === 0 ? CelOptional.none : new CelOptional(faults);
    },
  );
}

function uriFaults(text: string): string[] {
  const parts = parseUrl(text);
  return typeof parts === 'string' ? [`parse ${JSON.stringify(text)}: ${parts}`] : [];
}

function isDate(text: string): boolean {
  return isDateTime(`${text}T00:00:00Z`);
}

function isDateTime(text: string): boolean {
  try {
    return parseTimestamp(text) !== undefined;
  } catch {
    return false;
  }
}
