import { BreakLoop } from './control-flow.ts';
import { expandPattern, expandText, expandWords } from './expansion.ts';
import { patternExpression } from './pattern.ts';
import type { Shell } from './shell.ts';
import type { CompoundCommand, Script } from './syntax.ts';

/** Runs a compound command in the shell; its redirections are in force already. */
export async function runCompound(shell: Shell, command: CompoundCommand): Promise<void> {
  switch (command.kind) {
    case 'group':
      return shell.run(command.body);
    case 'subshell':
      shell.status = await shell.fork(shell.streams, ['sh']).runAsProcess(command.body);
      return;
    case 'if':
      return runIf(shell, command);
    case 'loop':
      return runLoop(shell, command);
    case 'for':
      return runFor(shell, command);
    case 'case':
      return runCase(shell, command);
  }
}

async function runIf(shell: Shell, { branches, otherwise }: CompoundCommand & { kind: 'if' }): Promise<void> {
  for (const { condition, body } of branches) {
    if (await shell.holds(condition)) return shell.run(body);
  }
  shell.status = 0;
  if (otherwise) await shell.run(otherwise);
}

async function runLoop(shell: Shell, { until, condition, body }: CompoundCommand & { kind: 'loop' }): Promise<void> {
  let status = 0;
  for (;;) {
    const ended = await turn(async () => {
      if ((await shell.holds(condition)) === until) return true;
      await shell.run(body);
      ({ status } = shell);
      return false;
    });
    if (ended) break;
  }
  shell.status = status;
}

async function runFor(shell: Shell, { name, words, body }: CompoundCommand & { kind: 'for' }): Promise<void> {
  const values = words ? await expandWords(shell, words) : shell.positional;
  shell.status = 0;
  for (const value of values) {
    shell.set(name, value);
    if (await turn(async () => (await shell.run(body), false))) break;
  }
}

/** One turn of a loop: whether it was the last. */
async function turn(body: () => Promise<boolean>): Promise<boolean> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof BreakLoop)) throw error;
    error.levels -= 1;
    if (error.levels > 0) throw error;
    return !error.goOn;
  }
}

async function runCase(shell: Shell, { subject, branches }: CompoundCommand & { kind: 'case' }): Promise<void> {
  const text = await expandText(shell, subject);
  shell.status = 0;
  const body = await firstMatch(shell, text, branches);
  if (body) await shell.run(body);
}

async function firstMatch(
  shell: Shell,
  text: string,
  branches: (CompoundCommand & { kind: 'case' })['branches'],
): Promise<Script | undefined> {
  for (const { patterns, body } of branches) {
    for (const pattern of patterns) {
      if (patternExpression(await expandPattern(shell, pattern)).test(text)) return body;
    }
  }
  return undefined;
}
