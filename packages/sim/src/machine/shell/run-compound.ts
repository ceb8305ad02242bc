import type { Case, CompoundList, For, If, While } from 'unbash';
import { expandPattern, expandWords, matches } from './expansion.ts';
import type { Runnable, Shell } from './shell.ts';
import { Jump, ShellError } from './shell-error.ts';

/** Runs `if`, loops, `case`, groups and subshells. */
export async function runCompound(shell: Shell, node: Runnable): Promise<void> {
  switch (node.type) {
    case 'Redirected':
      return shell.redirected(node.redirects, () => shell.execute(node.command));
    case 'BraceGroup':
      return shell.execute(node.body);
    case 'Subshell':
      shell.status = await shell.fork({}, node.body);
      return;
    case 'If':
      return runIf(shell, node);
    case 'While':
      return runWhile(shell, node);
    case 'For':
      return runFor(shell, node);
    case 'Case':
      return runCase(shell, node);
    default:
      throw new ShellError(`syntax error: ${node.type} is not supported`);
  }
}

async function runIf(shell: Shell, { clause, then, elif, else: otherwise }: If): Promise<void> {
  if (await shell.holds(clause)) return shell.execute(then);
  for (const branch of elif) {
    if (await shell.holds(branch.clause)) return shell.execute(branch.then);
  }
  shell.status = 0;
  if (otherwise) await shell.execute(otherwise);
}

async function runWhile(shell: Shell, { kind, clause, body }: While): Promise<void> {
  let status = 0;
  const once = async (): Promise<boolean> => {
    if ((await shell.holds(clause)) !== (kind === 'while')) return false;
    await shell.execute(body);
    ({ status } = shell);
    return true;
  };
  while (await goesOn(once));
  shell.status = status;
}

async function runFor(shell: Shell, { name, wordlist, body }: For): Promise<void> {
  const values = wordlist ? await expandWords(shell, wordlist) : shell.positional;
  shell.status = 0;
  for (const value of values) {
    shell.set(name.value, value);
    if (!(await goesOn(() => shell.execute(body).then(() => true)))) break;
  }
}

/** Runs a loop once: whether it goes on. */
async function goesOn(once: () => Promise<boolean>): Promise<boolean> {
  try {
    return await once();
  } catch (error) {
    if (!(error instanceof Jump) || (error.kind !== 'break' && error.kind !== 'continue')) throw error;
    error.value -= 1;
    if (error.value > 0) throw error;
    return error.kind === 'continue';
  }
}

async function runCase(shell: Shell, { word, items }: Case): Promise<void> {
  const text = await shell.expand(word);
  shell.status = 0;
  const body = await firstMatch(shell, text, items);
  if (body) await shell.execute(body);
}

async function firstMatch(shell: Shell, text: string, items: Case['items']): Promise<CompoundList | undefined> {
  for (const { pattern, body } of items) {
    for (const each of pattern) {
      if (matches(await expandPattern(shell, each), text)) return body;
    }
  }
  return undefined;
}
