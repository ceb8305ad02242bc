import { setFlagsFromString } from 'node:v8';

/**
 * Whoever may define resources may give patterns for which backtracking takes longer than anybody waits. From here on V8 (for
 * the whole process) gives an expression up that backtracks 50,000 times and matches it again in linear time, as RE2 does.
 */
export function boundPatternTime(): void {
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
}
