import { compileGoPattern } from '@asterism/machinery';
import { BOOL, INT, listOf, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import type { Meter } from '../evaluate/meter.ts';
import { fail } from '../values/value.ts';

type Pattern = NonNullable<ReturnType<typeof compileGoPattern>['pattern']>;

/** Patterns that are remembered, and of how many states. */
const MAX_REMEMBERED = 50;
const MAX_REMEMBERED_STATES = 2_000;
/** Work of compiling a character of a pattern, and a state of what it becomes: `a{1000}` has many. */
const CHARACTER_WORK = 200;
const STATE_WORK = 70;
/** Of each match of many. */
const FOUND_WORK = 60;
/** Of more states than these no table can be made: each is visited for each character. */
const MANY_STATES = 500;

/** Regular expressions in Go's syntax and linear time. Compiled ones are remembered. */
export function defineRegex(library: FunctionLibrary): void {
  const remembered = new Map<string, Pattern>();
  const compile = (text: string, prefix: string, meter: Meter): Pattern => {
    const known = remembered.get(text);
    if (known) return known;
    meter.work(text.length * CHARACTER_WORK);
    const { pattern, error } = compileGoPattern(text);
    if (!pattern) return fail(prefix + error);
    const states = pattern.programSize();
    meter.work(states * STATE_WORK);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    if (states <= MAX_REMEMBERED_STATES) remembered.set(text, pattern);
    return pattern;
  };
  type Two = readonly [string, string, bigint?];
  const matches = ([text, pattern]: Two, meter: Meter): boolean => {
    const compiled = compile(pattern, '', meter);
    meter.work(workOf(text, compiled));
    return compiled.matcher(text).find();
  };
  library.define('matches', 'matches', [STRING, STRING], BOOL, matches);
  library.method('matches', 'matches_string', [STRING, STRING], BOOL, matches);
  const findAll = ([text, pattern, limit = -1n]: Two, meter: Meter): string[] => {
    const compiled = compile(pattern, 'Illegal regex: ', meter);
    meter.work(workOf(text, compiled));
    const matcher = compiled.matcher(text);
    const found: string[] = [];
    let end = -1;
    while (BigInt(found.length) !== limit && matcher.find()) {
      meter.work(FOUND_WORK);
      // Go finds nothing empty right after a match.
      if (matcher.end() > matcher.start() || matcher.start() !== end) found.push(matcher.group() ?? '');
      end = matcher.end();
    }
    return found;
  };
  library.method(
    'find',
    'string_find_string',
    [STRING, STRING],
    STRING,
    ([text, pattern]: Two, meter) => findAll([text, pattern, 1n], meter)[0] ?? '',
  );
  library.method('findAll', 'string_find_all_string', [STRING, STRING], listOf(STRING), findAll);
  library.method('findAll', 'string_find_all_string_int', [STRING, STRING, INT], listOf(STRING), findAll);
}

/** As measured. */
function workOf(text: string, pattern: Pattern): number {
  const states = pattern.programSize();
  return (text.length + 1) * (2 + states * (states > MANY_STATES ? 2.5 : 0.125));
}
