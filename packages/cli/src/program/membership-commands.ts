import { type CommandContext, hubCommand, nameSubcommands, oneMore, output } from './command-context.ts';

/** `token` and `approve`: who may join. */
export function addMembershipCommands({ program, name, terminal, exit }: CommandContext): void {
  const token = program
    .command('token')
    .description('Bootstrap tokens, with which clusters ask to join')
    .action(() => token.help({ error: true }));
  hubCommand(token, name, {
    usage: 'create',
    summary: 'Make a bootstrap token; prints the command by which the other side joins with it, once',
    lines: [
      'token create --cluster edge-1',
      'token create --auto-approve --ttl 15m --cluster edge-1 -o token > token',
      'token create --cluster edge-1 --label tier=production --region eu-central',
      'token create -o json',
    ],
  })
    .option('--ttl <time>', 'how long it can be used, from 10s to 30d: 30s, 15m, 1h, 7d', '1h')
    .option('--auto-approve', 'let whoever holds it join at once, without a look by a person')
    .option('--cluster <name>', 'only a cluster of this name may join with it')
    .option('--label <k=v>', 'label of the Cluster that joins with it; may be given more than once', oneMore)
    .option('--provider <name>', 'provider of that Cluster')
    .option('--region <name>', 'region of that Cluster')
    .option('--zones <a,b>', 'zones of that Cluster')
    .addOption(output(['json', 'token']))
    .action(async (flags: import('../commands/create-token.ts').CreateTokenFlags) => {
      const { createToken } = await import('../commands/create-token.ts');
      exit(await createToken(flags, terminal));
    });
  nameSubcommands(token);
  hubCommand(program, name, {
    usage: 'approve <name>',
    summary: 'Let a cluster in that asks to join, by its name or that of its registration; or send it away',
    lines: [
      'approve edge-1',
      'approve edge-1 --accept-labels',
      'approve edge-1 --label tier=edge --region eu-central',
      'approve edge-1 --deny --reason "not one of ours"',
      'approve edge-1-0f3a9c2be1d4567a',
    ],
  })
    .option('--accept-labels', 'give the Cluster the labels, provider, region and zones that it asks for')
    .option('--label <k=v>', 'label of the Cluster; may be given more than once', oneMore)
    .option('--provider <name>', 'provider of the Cluster')
    .option('--region <name>', 'region of the Cluster')
    .option('--zones <a,b>', 'zones of the Cluster')
    .option('--deny', 'send it away: its agent stops asking')
    .option('--reason <text>', 'why, with --deny; its agent is told')
    .option('--timeout <time>', 'how long to wait until the hub has acted on it', '30s')
    .action(async (cluster: string, flags: import('../commands/approve.ts').ApproveFlags) => {
      const { approve } = await import('../commands/approve.ts');
      exit(await approve(cluster, flags, terminal));
    });
}
