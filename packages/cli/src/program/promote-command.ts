import { type CommandContext, hubCommand, namespaced, output } from './command-context.ts';

/** `promote`: from a member into the hub. */
export function addPromoteCommand({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'promote <type> [name]',
    summary: 'Make an object of a member a template of the hub, which takes it over where it runs',
    notes:
      'The hub gets a template without what the cluster itself has added, and a policy that places it in that cluster alone and takes it\n' +
      'over as it stands: nothing is started anew. A promotion that was broken off is finished by the same command.',
    lines: [
      'promote deploy/web -n demo -C alder',
      'promote deploy/web -n demo -C alder --dependencies --dry-run -o yaml',
    ],
  });
  namespaced(command)
    .requiredOption('-C, --clusters <name>', 'the member in which it stands')
    .option('--dependencies', 'with the ConfigMaps, Secrets, volume claims and service account that it names')
    .option('--dry-run', 'only say what would be created')
    .addOption(output(['json', 'yaml', 'name']))
    .action(async (type: string, object: string | undefined, flags: import('../commands/promote.ts').PromoteFlags) => {
      const { promote } = await import('../commands/promote.ts');
      exit(await promote(object === undefined ? [type] : [type, object], flags, terminal));
    });
}
