import { type CommandContext, examples } from './command-context.ts';

/** `backup`, `restore`: of a hub's data dir. */
export function addBackupCommands({ program, name, terminal, exit }: CommandContext): void {
  program
    .command('backup <folder>')
    .description('Back up the data dir of a hub into a new folder, while the hub runs')
    .option('--data-dir <dir>', 'where the hub keeps its data (default: ~/.asterism)')
    .addHelpText(
      'after',
      `
The folder holds the hub's keys: whoever can read it is an administrator. What search knows is not in it, nor the simulated
members of \`${name} up\`.
${examples(name, ['backup ~/backup-1', 'backup /backup/today --data-dir /var/lib/asterism'])}`,
    )
    .action(async (folder: string, flags: import('../commands/backup.ts').BackupFlags) => {
      const { backup } = await import('../commands/backup.ts');
      exit(await backup(folder, flags, terminal));
    });
  program
    .command('restore <folder>')
    .description('Put a backup into a data dir where no hub is; a hub started there goes on from it')
    .option('--data-dir <dir>', 'where it shall be (default: ~/.asterism)')
    .addHelpText('after', examples(name, ['restore /backup/today --data-dir /var/lib/asterism']))
    .action(async (folder: string, flags: import('../commands/backup.ts').BackupFlags) => {
      const { restore } = await import('../commands/backup.ts');
      exit(await restore(folder, flags, terminal));
    });
}
