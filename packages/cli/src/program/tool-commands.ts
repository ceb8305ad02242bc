import { type CommandContext, hubCommand, output } from './command-context.ts';

/** `version`, `completion`: about aster itself. */
export function addToolCommands(context: CommandContext): void {
  addVersion(context);
  addCompletion(context);
}

function addVersion({ program, name, terminal, exit }: CommandContext): void {
  hubCommand(program, name, {
    usage: 'version',
    summary: 'Print the versions of aster and of the hub',
    lines: ['version', 'version --client'],
  })
    .option('--client', 'of aster alone: asks no hub')
    .addOption(output(['json']))
    .action(async (flags: import('../commands/version.ts').VersionFlags) => {
      const { version } = await import('../commands/version.ts');
      exit(await version(flags, terminal));
    });
}

function addCompletion({ program, name, terminal, exit }: CommandContext): void {
  program
    .command('completion <shell>')
    .description('Print what a shell needs to complete aster: bash, zsh or fish')
    .addHelpText('after', '\nExamples:\n  source <(aster completion bash)\n  aster completion fish | source\n')
    .action(async (shell: string) => {
      const { completionScript } = await import('../commands/completion.ts');
      terminal.out(completionScript(shell, name));
    });
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[]) => {
      const { complete } = await import('../commands/completion.ts');
      exit(await complete(program, words, terminal));
    });
}
