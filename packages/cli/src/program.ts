import { Command } from 'commander';
import type { Terminal } from './output/terminal.ts';
import { addBackupCommands } from './program/backup-commands.ts';
import { type CommandContext, examples } from './program/command-context.ts';
import { addJoinCommands } from './program/join-commands.ts';
import { addMembershipCommands } from './program/membership-commands.ts';
import { addObjectCommands } from './program/object-commands.ts';
import { addPlaceCommands } from './program/place-commands.ts';
import { addPromoteCommand } from './program/promote-command.ts';
import { addReachCommands } from './program/reach-commands.ts';
import { addServiceCommands } from './program/service-commands.ts';
import { addToolCommands } from './program/tool-commands.ts';

/** Every command of `aster` with its flags and examples. What a command does is loaded when it is called. */
export function createProgram(name: string, terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command(name)
    .description('One control plane for every Kubernetes cluster that you run')
    .showHelpAfterError('(--help tells more)')
    .exitOverride()
    // So that `agent --mode` and `agent manifests --mode` are two.
    .enablePositionalOptions()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      examples(name, ['up', 'get clusters', 'get pods -A -C all', 'why deploy/web -n demo', 'search pods']),
    );
  const context: CommandContext = { program, name, terminal, exit };
  addServiceCommands(context);
  addBackupCommands(context);
  addMembershipCommands(context);
  addJoinCommands(context);
  addObjectCommands(context);
  addPlaceCommands(context);
  addPromoteCommand(context);
  addReachCommands(context);
  addToolCommands(context);
  return program;
}
