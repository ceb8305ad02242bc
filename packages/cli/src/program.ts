import { Command, Option } from 'commander';
import { OBJECT_FORMATS } from './output/objects.ts';
import type { Terminal } from './output/terminal.ts';

/** Every command of `aster` with its flags and examples. What a command does is loaded when it is called. */
export function createProgram(name: string, terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command(name)
    .description('One control plane for every Kubernetes cluster that you run')
    .showHelpAfterError('(--help tells more)')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      examples(name, ['up', 'get clusters', 'get pods -A -C all', 'why deploy/web -n demo', 'search pods']),
    );
  const context: CommandContext = { program, name, terminal, exit };
  addUp(context);
  addGet(context);
  addDescribe(context);
  addApply(context);
  addSearch(context);
  addWhy(context);
  addVersion(context);
  addCompletion(context);
  return program;
}

interface CommandContext {
  program: Command;
  name: string;
  terminal: Terminal;
  exit(code: number): void;
}

function examples(name: string, lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${name} ${line}\n`).join('')}`;
}

const output = (formats: readonly string[]) => new Option('-o, --output <format>', 'output format').choices(formats);

/** A command that talks to the hub: kubectl's flags. */
function hubCommand(
  { program, name }: CommandContext,
  usage: string,
  summary: string,
  lines: readonly string[],
): Command {
  return program
    .command(usage)
    .description(summary)
    .option('--kubeconfig <file>', 'kubeconfig of the hub (default: $KUBECONFIG, else ~/.asterism/kubeconfig)')
    .option('--context <name>', 'context in it')
    .addHelpText('after', examples(name, lines));
}

const namespaced = (command: Command) => command.option('-n, --namespace <name>', 'namespace');
const inClusters = (command: Command, what: string) =>
  command.option('-C, --clusters <which>', `${what}: names with commas, a label expression, or all`);

function addUp({ program, name, terminal, exit }: CommandContext): void {
  program
    .command('up')
    .description('Start an embedded hub with simulated members joined to it, and stay up')
    .option('--data-dir <dir>', 'where everything is kept (default: ~/.asterism)')
    .option('--listen <host:port>', 'where the hub listens', '127.0.0.1:7443')
    .option('--members <number>', 'how many simulated members', '3')
    .option('--demo', 'place a demo application over the members and show what became of it')
    .option('--search-store <store>', 'where search keeps its rows: sqlite, in the data dir')
    .addHelpText(
      'after',
      examples(name, ['up --demo', 'up --data-dir /var/lib/asterism --listen 0.0.0.0:7443 --members 0']),
    )
    .action(async (flags: import('./up/up-options.ts').UpFlags) => {
      const { up } = await import('./up/up.ts');
      exit(await up(flags, terminal));
    });
}

function addGet(context: CommandContext): void {
  const lines = [
    'get clusters',
    'get deploy,svc -n demo',
    'get pods -n demo -C all',
    'get pods -n demo -C region=us-east -o wide',
  ];
  const command = hubCommand(context, 'get <type> [names...]', 'List objects of the hub, or of members with -C', lines);
  inClusters(namespaced(command), 'ask these members instead of the hub')
    .option('-A, --all-namespaces', 'in every namespace')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields')
    .option('-w, --watch', 'stay and print what changes')
    .addOption(output(['wide', ...OBJECT_FORMATS]))
    .action(async (type: string, names: string[], flags: import('./commands/get.ts').GetFlags) => {
      const { get } = await import('./commands/get.ts');
      context.exit(await get([type, ...names], flags, context.terminal));
    });
}

function addDescribe(context: CommandContext): void {
  const lines = ['describe cluster alder', 'describe deploy/web -n demo', 'describe pod web-0 -n demo -C alder'];
  const command = hubCommand(
    context,
    'describe <type> [names...]',
    'Show all about an object, its placement and events',
    lines,
  );
  inClusters(namespaced(command), 'look in these members instead of the hub').action(
    async (type: string, names: string[], flags: import('./commands/describe.ts').DescribeFlags) => {
      const { describe } = await import('./commands/describe.ts');
      context.exit(await describe([type, ...names], flags, context.terminal));
    },
  );
}

function addApply(context: CommandContext): void {
  const lines = [
    'apply -f app.yaml',
    'apply -f app/ -f policy.yaml --dry-run server',
    'apply -f debug.yaml -C alder,birch',
  ];
  const command = hubCommand(
    context,
    'apply',
    'Apply manifests (server-side) to the hub, or to members with -C',
    lines,
  );
  inClusters(namespaced(command), 'apply in these members instead of the hub')
    .requiredOption(
      '-f, --filename <path>',
      'file, folder or - for stdin; may be given again',
      (path: string, all: string[] | undefined) => [...(all ?? []), path],
    )
    .option('--force-conflicts', 'take over fields that others manage')
    .addOption(new Option('--dry-run <mode>', 'only say what would happen').choices(['none', 'server']))
    .action(async (flags: import('./commands/apply.ts').ApplyFlags) => {
      const { apply } = await import('./commands/apply.ts');
      context.exit(await apply(flags, context.terminal));
    });
}

function addSearch(context: CommandContext): void {
  const lines = [
    'search pods',
    'search pods -n demo -l app=web',
    "search deploy -C region=us-east --field-selector 'spec.replicas>3'",
  ];
  const command = hubCommand(context, 'search <type> [names...]', 'Find objects in all members with one query', lines);
  inClusters(namespaced(command), 'only in these members')
    .option('-A, --all-namespaces', 'in every namespace (the default)')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields, at any path')
    .option('--order-by <fields>', 'fields with commas; `desc` behind one turns it round')
    .option('--limit <number>', 'at most so many')
    .addOption(output(['wide', ...OBJECT_FORMATS]))
    .action(async (type: string, names: string[], flags: import('./commands/search.ts').SearchFlags) => {
      const { search } = await import('./commands/search.ts');
      context.exit(await search([type, ...names], flags, context.terminal));
    });
}

function addWhy(context: CommandContext): void {
  const command = hubCommand(
    context,
    'why <type> [name]',
    'Tell for each cluster why a template goes there, or does not',
    ['why deploy/web -n demo', 'why deploy/web -n demo -C birch'],
  );
  inClusters(namespaced(command), 'only these clusters')
    .addOption(output(['json']))
    .action(async (type: string, name: string | undefined, flags: import('./commands/why.ts').WhyFlags) => {
      const { why } = await import('./commands/why.ts');
      context.exit(await why(name === undefined ? [type] : [type, name], flags, context.terminal));
    });
}

function addVersion(context: CommandContext): void {
  hubCommand(context, 'version', 'Print the versions of aster and of the hub', ['version', 'version --client'])
    .option('--client', 'of aster alone: asks no hub')
    .addOption(output(['json']))
    .action(async (flags: import('./commands/version.ts').VersionFlags) => {
      const { version } = await import('./commands/version.ts');
      context.exit(await version(flags, context.terminal));
    });
}

function addCompletion({ program, name, terminal, exit }: CommandContext): void {
  program
    .command('completion <shell>')
    .description('Print what a shell needs to complete aster: bash, zsh or fish')
    .addHelpText('after', '\nExamples:\n  source <(aster completion bash)\n  aster completion fish | source\n')
    .action(async (shell: string) => {
      const { completionScript } = await import('./commands/completion.ts');
      terminal.out(completionScript(shell, name));
    });
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[]) => {
      const { complete } = await import('./commands/completion.ts');
      exit(await complete(program, words, terminal));
    });
}
