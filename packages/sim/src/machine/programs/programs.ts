import { sh } from '../shell/sh.ts';
import type { Program } from '../task.ts';
import { TEST_PROGRAMS } from './condition.ts';
import { FILE_PROGRAMS } from './files.ts';
import { PRINT_PROGRAMS } from './print.ts';
import { SYSTEM_PROGRAMS } from './system.ts';
import { tar } from './tar.ts';
import { TEXT_PROGRAMS } from './text.ts';

/** Every program that a container has, by name. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    ...FILE_PROGRAMS,
    ...PRINT_PROGRAMS,
    ...SYSTEM_PROGRAMS,
    ...TEST_PROGRAMS,
    ...TEXT_PROGRAMS,
    tar,
    sh,
    ash: sh,
    bash: sh,
  }),
);
