import { Option } from 'commander';
import { OBJECT_FORMATS } from '../output/objects.ts';
import { type CommandContext, hubCommand, inClusters, namespaced, output } from './command-context.ts';

/** `get`, `describe`, `apply`, `search`, `api-resources`: objects of the hub and of its members. */
export function addObjectCommands(context: CommandContext): void {
  addGet(context);
  addDescribe(context);
  addApply(context);
  addSearch(context);
  addApiResources(context);
}

function addGet({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'get <type> [names...]',
    summary: 'List objects of the hub, or of members with -C',
    lines: [
      'get clusters',
      'get deploy,svc -n demo',
      'get pods -n demo -C all',
      'get pods -n demo -C region=us-east -o wide',
    ],
  });
  inClusters(namespaced(command), 'ask these members instead of the hub')
    .option('-A, --all-namespaces', 'in every namespace')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields')
    .option('-w, --watch', 'stay and print what changes')
    .addOption(output(['wide', ...OBJECT_FORMATS]))
    .action(async (type: string, names: string[], flags: import('../commands/get-answer.ts').GetFlags) => {
      const { get } = await import('../commands/get.ts');
      exit(await get([type, ...names], flags, terminal));
    });
}

function addDescribe({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'describe <type> [names...]',
    summary: 'Show all about an object, its placement and events',
    lines: ['describe cluster alder', 'describe deploy/web -n demo', 'describe pod web-0 -n demo -C alder'],
  });
  inClusters(namespaced(command), 'look in these members instead of the hub').action(
    async (type: string, names: string[], flags: import('../commands/describe.ts').DescribeFlags) => {
      const { describe } = await import('../commands/describe.ts');
      exit(await describe([type, ...names], flags, terminal));
    },
  );
}

function addApply({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'apply',
    summary: 'Apply manifests (server-side) to the hub, or to members with -C',
    lines: ['apply -f app.yaml', 'apply -f app/ -f policy.yaml --dry-run server', 'apply -f debug.yaml -C alder,birch'],
  });
  inClusters(namespaced(command), 'apply in these members instead of the hub')
    .requiredOption(
      '-f, --filename <path>',
      'file, folder or - for stdin; may be given again',
      (path: string, all: string[] | undefined) => [...(all ?? []), path],
    )
    .option('--force-conflicts', 'take over fields that others manage')
    .addOption(new Option('--dry-run <mode>', 'only say what would happen').choices(['none', 'server']))
    .action(async (flags: import('../commands/apply.ts').ApplyFlags) => {
      const { apply } = await import('../commands/apply.ts');
      exit(await apply(flags, terminal));
    });
}

function addSearch({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'search <type> [names...]',
    summary: 'Find objects in all members with one query',
    lines: [
      'search pods',
      'search pods -n demo -l app=web',
      "search deploy -C region=us-east --field-selector 'spec.replicas>3'",
    ],
  });
  inClusters(command.option('-n, --namespace <name>', 'only in this namespace'), 'only in these members')
    .option('-A, --all-namespaces', 'in every namespace (the default)')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields, at any path')
    .option('--order-by <fields>', 'fields with commas; `desc` behind one turns it round')
    .option('--limit <number>', 'at most so many')
    .addOption(output(['wide', ...OBJECT_FORMATS]))
    .action(async (type: string, names: string[], flags: import('../commands/search.ts').SearchFlags) => {
      const { search } = await import('../commands/search.ts');
      exit(await search([type, ...names], flags, terminal));
    });
}

function addApiResources({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'api-resources',
    summary: 'Compare what members serve: kinds by group and version, and who lacks them',
    lines: ['api-resources', 'api-resources --lacking', 'api-resources -C alder,birch --api-group apps -o wide'],
  });
  inClusters(command, 'only these members')
    .option('--api-group <group>', "only kinds of this group ('' for the core)")
    .option('--lacking', 'only kinds that some of them lack')
    .addOption(output(['wide', 'name', 'json']))
    .action(async (flags: import('../commands/api-resources.ts').ApiResourcesFlags) => {
      const { apiResources } = await import('../commands/api-resources.ts');
      exit(await apiResources(flags, terminal));
    });
}
