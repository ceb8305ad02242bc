import { sh } from '../shell/sh.ts';
import type { Program } from '../task.ts';
import { BASIC_PROGRAMS } from './basic.ts';
import { CHANGE_PROGRAMS } from './change.ts';
import { GREP_PROGRAMS } from './grep.ts';
import { LIST_PROGRAMS } from './list.ts';
import { PRINT_PROGRAMS } from './print.ts';
import { TAR_PROGRAMS } from './tar.ts';
import { TEST_PROGRAMS } from './condition.ts';
import { TEXT_PROGRAMS } from './text.ts';

/** Every program that a container has, by name. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    ...BASIC_PROGRAMS,
    ...CHANGE_PROGRAMS,
    ...GREP_PROGRAMS,
    ...LIST_PROGRAMS,
    ...PRINT_PROGRAMS,
    ...TAR_PROGRAMS,
    ...TEST_PROGRAMS,
    ...TEXT_PROGRAMS,
    sh,
    ash: sh,
    bash: sh,
  }),
);
