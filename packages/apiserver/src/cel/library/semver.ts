import { BOOL, INT, opaqueType, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import type { Meter } from '../evaluate/meter.ts';
import { CelOpaque, fail } from '../values/value.ts';

const SEMVER = opaqueType('kubernetes.Semver');
const MAX_NUMBER = 2n ** 64n - 1n;
const MAX_TEXT = 10_000;

class CelSemver extends CelOpaque {
  readonly type = SEMVER;
  readonly numbers: readonly [bigint, bigint, bigint];
  /** Without one the version is after those that have one. */
  readonly prerelease: readonly string[];

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && this.compareTo(other) === 0;
  }

  compareTo(other: CelSemver): number {
    for (const [index, number] of this.numbers.entries()) {
      if (number !== other.numbers[index]) return number < other.numbers[index]! ? -1 : 1;
    }
    const [mine, others] = [this.prerelease, other.prerelease];
    if (mine.length === 0 || others.length === 0) return Math.sign(others.length - mine.length);
    for (const [index, part] of mine.entries()) {
      if (others[index] === undefined) return 1;
      const order = compareParts(part, others[index]);
      if (order !== 0) return order;
    }
    return mine.length < others.length ? -1 : 0;
  }
}

/** Semantic versions: `semver('1.2.3')`, and with `true` those that are nearly so: `v1.2`. */
export function defineSemver(library: FunctionLibrary): void {
  type Args = readonly [string, boolean?];
  const parse = ([text, lenient = false]: Args, meter: Meter): CelSemver | string => {
    meter.work(text.length / 5);
    return parseSemver(lenient ? normalized(text) : text);
  };
  const create = (args: Args, meter: Meter): CelSemver => {
    const version = parse(args, meter);
    return typeof version === 'string' ? fail(version) : version;
  };
  const isVersion = (args: Args, meter: Meter): boolean => typeof parse(args, meter) !== 'string';
  library.define('semver', 'string_to_semver', [STRING], SEMVER, create);
  library.define('semver', 'string_bool_to_semver', [STRING, BOOL], SEMVER, create);
  library.define('isSemver', 'is_semver_string', [STRING], BOOL, isVersion);
  library.define('isSemver', 'is_semver_string_bool', [STRING, BOOL], BOOL, isVersion);
  for (const [index, name] of ['major', 'minor', 'patch'].entries()) {
    library.method(name, `semver_${name}`, [SEMVER], INT, ([{ numbers }]: readonly [CelSemver]) => numbers[index]!);
  }
  type Pair = readonly [CelSemver, CelSemver];
  const method = library.method.bind(library);
  method('isLessThan', 'semver_is_less_than', [SEMVER, SEMVER], BOOL, ([a, b]: Pair) => a.compareTo(b) < 0);
  method('isGreaterThan', 'semver_is_greater_than', [SEMVER, SEMVER], BOOL, ([a, b]: Pair) => a.compareTo(b) > 0);
  method('compareTo', 'semver_compare_to', [SEMVER, SEMVER], INT, ([a, b]: Pair) => BigInt(a.compareTo(b)));
}

/** The version, or why the text is none. */
function parseSemver(text: string): CelSemver | string {
  if (text === '') return 'Version string empty';
  if (text.length > MAX_TEXT) return 'Version string too long';
  const parts = splitAtMost(text, '.', 3);
  if (parts.length !== 3) return 'No Major.Minor.Patch elements found';
  const [major, minor, rest] = parts as [string, string, string];
  const plus = rest.indexOf('+');
  const [withoutBuild, build] = plus < 0 ? [rest, undefined] : [rest.slice(0, plus), rest.slice(plus + 1)];
  const dash = withoutBuild.indexOf('-');
  const [patch, prerelease] =
    dash < 0 ? [withoutBuild, undefined] : [withoutBuild.slice(0, dash), withoutBuild.slice(dash + 1)];
  const numbers: bigint[] = [];
  for (const [name, digits] of [
    ['major', major],
    ['minor', minor],
    ['patch', patch],
  ] as const) {
    const title = name[0]!.toUpperCase() + name.slice(1);
    if (!/^[0-9]+$/.test(digits)) {
      return digits === ''
        ? 'strconv.ParseUint: parsing "": invalid syntax'
        : `Invalid character(s) found in ${name} number "${digits}"`;
    }
    if (digits.length > 1 && digits.startsWith('0'))
      return `${title} number must not contain leading zeroes "${digits}"`;
    if (digits.length > 20 || BigInt(digits) > MAX_NUMBER)
      return `strconv.ParseUint: parsing "${digits}": value out of range`;
    numbers.push(BigInt(digits));
  }
  const identifiers = prerelease?.split('.') ?? [];
  for (const part of identifiers) {
    if (part === '') return 'Prerelease is empty';
    if (/^0[0-9]+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes "${part}"`;
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in prerelease "${part}"`;
  }
  for (const part of build?.split('.') ?? []) {
    if (part === '') return 'Build meta data is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in build meta data "${part}"`;
  }
  return new CelSemver(numbers as [bigint, bigint, bigint], identifiers);
}

function compareParts(a: string, b: string): number {
  const [first, second] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (first && second) return a.length === b.length ? (a < b ? -1 : a > b ? 1 : 0) : Math.sign(a.length - b.length);
  if (first !== second) return first ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Without a `v` before it and zeros before its numbers, and with three numbers. */
function normalized(text: string): string {
  const trimmed = text.startsWith('v') ? text.slice(1) : text;
  const parts = splitAtMost(trimmed, '.', 3).map((part) => {
    if (part.length <= 1) return part;
    const stripped = part.replace(/^0+/, '');
    return stripped === '' || !/^[0-9]/.test(stripped) ? `0${stripped}` : stripped;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) return trimmed;
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

/** The last part has all that is left. */
function splitAtMost(text: string, separator: string, count: number): string[] {
  const parts = text.split(separator);
  return parts.length <= count ? parts : [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}
