import { type CommandContext, hubCommand, inClusters } from './command-context.ts';

/** `kubeconfig`: what leads into members. */
export function addReachCommands(context: CommandContext): void {
  addKubeconfig(context);
}

function addKubeconfig({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'kubeconfig',
    summary: 'Print a kubeconfig with a context for the hub, for search and for each member, or write it to a file',
    lines: ['kubeconfig --merge', 'kubeconfig -C edge-1,edge-2 -o fleet.kubeconfig', 'kubeconfig --merge --prune'],
  });
  inClusters(command, 'contexts of these members alone')
    .option('--all', 'contexts of all members (the default)')
    .option('-o, --output <file>', 'write it there, readable for you alone (default: stdout)')
    .option(
      '--merge',
      'into the file, leaving all else in it as it is (default file: the first of $KUBECONFIG, else ~/.kube/config)',
    )
    .option('--prune', 'with --merge: take out the contexts of members that are gone')
    .option('--name <name>', 'name of the context of the hub; the others begin with it', 'asterism')
    .action(async (flags: import('../commands/kubeconfig.ts').KubeconfigFlags) => {
      const { writeContexts } = await import('../commands/kubeconfig.ts');
      exit(await writeContexts(flags, terminal));
    });
}
