import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a program logged as an error. */
export interface KlogError {
  program: string;
  /** Without time and process: `replica_set.go:532] sync "demo/web" failed with …`. */
  line: string;
}

/** The error lines (klog's `E` and `F`) of kube-controller-manager and kube-scheduler, whose logs are in the folder. */
export async function klogErrors(folder: string): Promise<KlogError[]> {
  const programs = ['kube-controller-manager', 'kube-scheduler'];
  const logs = await Promise.all(
    programs.map(async (program) => {
      const log = await readFile(join(folder, `${program}.log`), 'utf8');
      return log.split('\n').flatMap((text) => {
        const line = /^[EF]\d{4} \S+ +\d+ (.*)$/.exec(text)?.[1];
        return line === undefined ? [] : [{ program, line }];
      });
    }),
  );
  return logs.flat();
}
