import type { Command } from 'commander';
import { CLUSTERS, SEARCH_PATH } from '@asterism/fleet/api';
import { type KubeList, type KubeObject, PODS, resourcePath } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

const SCRIPTS: Record<string, string> = {
  bash: `_aster() {
  COMPREPLY=()
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(aster __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _aster aster
`,
  zsh: `#compdef aster
_aster() {
  local -a candidates
  candidates=("\${(@f)$(aster __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
}
compdef _aster aster
`,
  fish: `complete -c aster -f -a '(aster __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** The script that a shell sources. It asks `aster __complete` for every candidate, so it never grows old. */
export function completionScript(shell: string, name: string): string {
  const script = SCRIPTS[shell];
  if (script === undefined) {
    throw new CommandError(
      `no completion for ${JSON.stringify(shell)}: ${Object.keys(SCRIPTS).join(', ')} are there`,
      EXIT.usage,
    );
  }
  return name === 'aster' ? script : script.replaceAll(' aster ', ` ${name} `);
}

const TYPED = new Set(['get', 'describe', 'search', 'why']);
/** Commands on a pod, in whichever member that is. */
const ON_PODS = new Set(['exec', 'logs', 'port-forward']);
/** How long a person waits for a hub that does not answer before the shell offers nothing. */
const PATIENCE_MS = 2000;

/** Prints the candidates for the last of `words`, one a line. A hub that cannot be asked means fewer candidates, no noise. */
export async function complete(program: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const candidates = await candidatesFor(program, before, current).catch(() => []);
  const matching = [...new Set(candidates)].filter((candidate) => candidate.startsWith(current)).sort();
  terminal.out(matching.map(oneLine).join(''));
  return EXIT.fine;
}

async function candidatesFor(program: Command, before: readonly string[], current: string): Promise<string[]> {
  const { command, operands } = walk(program, before);
  const previous = before.at(-1) ?? '';
  if (takesValue(command, previous)) {
    if (previous === '-C' || previous === '--clusters') return ['all', ...(await clusterNames(before))];
    // Without candidates the shell offers files, which is what most other values are.
    return optionOf(command, previous)?.argChoices ?? [];
  }
  if (current.startsWith('-')) return [...command.options.flatMap(({ long }) => (long ? [long] : [])), '--help'];
  if (command.name() === 'completion') return Object.keys(SCRIPTS);
  if (TYPED.has(command.name())) {
    return operands.length === 0 ? resourceNames(before) : objectNames(before, operands[0] ?? '');
  }
  if (ON_PODS.has(command.name())) return operands.length === 0 ? podNames(before) : [];
  return operands.length === 0 ? namesBelow(command) : [];
}

/** The command that the words so far lead to, and what stands behind it that is no flag and no flag's value. */
function walk(program: Command, before: readonly string[]): { command: Command; operands: string[] } {
  let command = program;
  let operands: string[] = [];
  for (const [index, word] of before.entries()) {
    if (word.startsWith('-') || takesValue(command, before[index - 1] ?? '')) continue;
    const below = operands.length === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
    if (below) command = below;
    else operands = [...operands, word];
  }
  return { command, operands };
}

const namesBelow = (command: Command): string[] =>
  command.commands.map((candidate) => candidate.name()).filter((name) => !name.startsWith('__'));

const optionOf = (command: Command, flag: string) =>
  command.options.find(({ short, long }) => short === flag || long === flag);

function takesValue(command: Command, flag: string): boolean {
  return optionOf(command, flag)?.required === true;
}

/** A flag's value among words that are not finished yet: `--kubeconfig FILE` or `--kubeconfig=FILE`. */
function valueOf(words: readonly string[], ...flags: string[]): string | undefined {
  for (const flag of flags) {
    const index = words.indexOf(flag);
    if (index >= 0) return words[index + 1];
    const joined = words.find((word) => word.startsWith(`${flag}=`));
    if (joined !== undefined) return joined.slice(flag.length + 1);
  }
  return undefined;
}

async function ask<T>(
  words: readonly string[],
  question: (session: Awaited<ReturnType<typeof openSession>>) => Promise<T>,
): Promise<T> {
  const kubeconfig = valueOf(words, '--kubeconfig');
  const context = valueOf(words, '--context');
  const namespace = valueOf(words, '-n', '--namespace');
  await using session = await openSession({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(namespace === undefined ? {} : { namespace }),
  });
  return await Promise.race([
    question(session),
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('the hub did not answer in time')), PATIENCE_MS).unref();
    }),
  ]);
}

async function clusterNames(words: readonly string[]): Promise<string[]> {
  const { items } = await ask(words, ({ hub }) => hub.resource(CLUSTERS).list());
  return items.map((cluster) => cluster.metadata.name ?? '');
}

async function resourceNames(words: readonly string[]): Promise<string[]> {
  const resources = await ask(words, ({ hub }) => hub.discovery.resources());
  return resources.filter(({ verbs }) => verbs.includes('list')).map(({ resource }) => resource);
}

async function objectNames(words: readonly string[], type: string): Promise<string[]> {
  return await ask(words, async ({ hub, namespace }) => {
    const resource = await hub.discovery.find(type);
    const { items } = await hub
      .resource(resource)
      .list({ namespace: resource.namespaced ? namespace : undefined, limit: 500 });
    return items.map((object) => object.metadata?.name ?? '');
  });
}

async function podNames(words: readonly string[]): Promise<string[]> {
  return await ask(words, async ({ hub, namespace }) => {
    const path = `${SEARCH_PATH}${resourcePath(PODS, { namespace })}?limit=500`;
    const { items } = (await hub.getJson(path)) as KubeList<KubeObject>;
    return items.map((object) => object.metadata?.name ?? '');
  });
}
