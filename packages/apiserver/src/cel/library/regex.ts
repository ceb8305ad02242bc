import { compileGoPattern } from '@asterism/machinery';
import { BOOL, INT, listOf, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import type { Meter } from '../evaluate/meter.ts';
import { fail } from '../values/value.ts';

type Pattern = NonNullable<ReturnType<typeof compileGoPattern>['pattern']>;

/** Longer patterns would take too much memory when compiled. */
const MAX_REMEMBERED = 100;

/** Regular expressions in Go's syntax and linear time. Compiled ones are remembered. */
export function defineRegex(library: FunctionLibrary): void {
  const remembered = new Map<string, Pattern>();
  const compile = (text: string, prefix: string, meter: Meter): Pattern => {
    const known = remembered.get(text);
    if (known) return known;
    meter.work(text.length * 10);
    const { pattern, error } = compileGoPattern(text);
    if (!pattern) return fail(prefix + error);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(text, pattern);
    return pattern;
  };
  type Two = readonly [string, string, bigint?];
  const matches = ([text, pattern]: Two, meter: Meter): boolean => {
    const compiled = compile(pattern, '', meter);
    meter.work(workOf(text, pattern));
    return compiled.matcher(text).find();
  };
  library.define('matches', 'matches', [STRING, STRING], BOOL, matches);
  library.method('matches', 'matches_string', [STRING, STRING], BOOL, matches);
  const findAll = ([text, pattern, limit = -1n]: Two, meter: Meter): string[] => {
    const matcher = compile(pattern, 'Illegal regex: ', meter).matcher(text);
    meter.work(workOf(text, pattern));
    const found: string[] = [];
    let end = -1;
    while (BigInt(found.length) !== limit && matcher.find()) {
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

/** The states of a pattern are visited for each character, some hundred in the time of a unit of work. */
function workOf(text: string, pattern: string): number {
  return ((text.length + 1) * Math.max(pattern.length, 4)) / 100;
}
