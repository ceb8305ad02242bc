import { type CommandContext, hubCommand, nameSubcommands, output } from './command-context.ts';

/** `token`: who may join. */
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
      'token create -o json',
    ],
  })
    .option('--ttl <time>', 'how long it can be used, from 10s to 30d: 30s, 15m, 1h, 7d', '1h')
    .option('--auto-approve', 'let whoever holds it join at once, without a look by a person')
    .option('--cluster <name>', 'only a cluster of this name may join with it')
    .addOption(output(['json', 'token']))
    .action(async (flags: import('../commands/create-token.ts').CreateTokenFlags) => {
      const { createToken } = await import('../commands/create-token.ts');
      exit(await createToken(flags, terminal));
    });
  nameSubcommands(token);
}
