import { type Command, Option } from 'commander';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';

/** What every group of commands is declared with. */
export interface CommandContext {
  program: Command;
  /** How the user calls it: `aster`, or `kubectl aster`. */
  name: string;
  terminal: Terminal;
  /** Told the exit code of the command that ran. */
  exit(code: number): void;
}

/** The part of a command's help that shows how it is called. */
export function examples(name: string, lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${name} ${line}\n`).join('')}`;
}

/**
 * A command that has others below it: a word behind it that is none of these is wrong usage, told with their names. To be called
 * when they are there: they would inherit that further words are let through.
 */
export function nameSubcommands(command: Command): void {
  command.allowExcessArguments().hook('preAction', (_, called) => {
    const [word] = called.args;
    if (called !== command || word === undefined) return;
    const names = command.commands.map((below) => below.name()).join(', ');
    throw new CommandError(
      `${command.name()}: ${JSON.stringify(word)} is none of its subcommands: ${names} (--help tells more)`,
      EXIT.usage,
    );
  });
}

export const output = (formats: readonly string[]) =>
  new Option('-o, --output <format>', 'output format').choices(formats);

/** A command that talks to the hub: kubectl's flags. */
export function hubCommand(
  parent: Command,
  name: string,
  command: { usage: string; summary: string; notes?: string; lines: readonly string[] },
): Command {
  return parent
    .command(command.usage)
    .description(command.summary)
    .option('--kubeconfig <file>', 'kubeconfig of the hub (default: $KUBECONFIG, else ~/.asterism/kubeconfig)')
    .option('--context <name>', 'context in it (default: its current one)')
    .addHelpText('after', (command.notes ? `\n${command.notes}\n` : '') + examples(name, command.lines));
}

export const namespaced = (command: Command) =>
  command.option('-n, --namespace <name>', "namespace (default: the context's, else default)");

export const inClusters = (command: Command, what: string) =>
  command.option('-C, --clusters <which>', `${what}: names with commas, a label expression, or all`);

/** Gathers an option that may be given more than once. */
export const oneMore = (value: string, others: readonly string[] = []): string[] => [...others, value];

/** What an agent lets callers do. */
export const reachFlag = (command: Command) =>
  command.addOption(
    new Option(
      '--reach <mode>',
      "what callers through the hub may do in this cluster at most, whatever the hub's Cluster says (pull, dual; default: impersonate)",
    ).choices(['impersonate', 'readonly', 'off']),
  );

/** How much the account that acts in a member may do there. */
export const permissionFlags = (command: Command) =>
  command
    .addOption(
      new Option(
        '--permissions <profile>',
        'rights of the account in this cluster: workloads, platform (an administrator in fact) or full (default: those it has, else platform)',
      ).choices(['workloads', 'platform', 'full']),
    )
    .option('--namespaces <a,b>', 'with --permissions workloads: the namespaces that the account may write')
    .option('--callers <a,b>', 'with --permissions workloads: users of the hub that may act in this cluster')
    .option('--caller-groups <a,b>', 'with --permissions workloads: groups that those users may bring along');

/** Where an agent may go beside its own API server. */
export const destinationFlags = (command: Command) =>
  command
    .option(
      '--allow-destination <url>',
      "another server that the hub's callers may reach through the agent, https://HOST:PORT or http://HOST:PORT; may be given more than once (pull, dual; default: none)",
      oneMore,
    )
    .option(
      '--destination-ca <file>',
      "authorities of those servers' certificates (PEM; default: those that Node.js knows)",
    );
