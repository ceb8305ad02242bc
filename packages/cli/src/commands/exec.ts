import { type ContainerAddress, openExec } from '@asterism/client';
import { CommandError } from '../exit-code.ts';
import type { StandardStreams } from '../output/standard-streams.ts';
import type { Terminal } from '../output/terminal.ts';
import { chooseContainer } from '../reach/choose-container.ts';
import { connectStreams } from '../reach/connect-streams.ts';
import { locate, type LocateFlags } from '../reach/locate.ts';
import { parseTarget } from '../reach/target.ts';
import { openSession } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface ExecFlags extends LocateFlags {
  container?: string;
  stdin?: boolean;
  tty?: boolean;
  quiet?: boolean;
}

/** `aster exec`: runs a command in a container, wherever in the fleet that is. Resolves with the command's own exit code. */
export async function exec(
  word: string,
  command: readonly string[],
  flags: ExecFlags,
  { terminal, streams }: { terminal: Terminal; streams: StandardStreams },
): Promise<number> {
  const target = parseTarget(word);
  const note = (line: string): void => {
    if (!flags.quiet) terminal.err(oneLine(`${line}`));
  };
  const tty = flags.tty === true && streams.screen !== undefined;
  if (flags.tty && !tty) note('Unable to use a TTY: input is not a terminal');
  await using session = await openSession(flags, terminal);
  const { cluster, client, pods } = await locate(session, target, flags, { order: 'active', note });
  const [pod] = pods;
  const name = pod.metadata?.name ?? '';
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed') {
    throw new CommandError(`pod ${name} in ${cluster} is over (${phase}): no command can run in it`);
  }
  const container = chooseContainer(pod, flags.container, note);
  const address: ContainerAddress = { namespace: session.namespace, pod: name, container };
  await using stream = await openExec(client, { ...address, command, stdin: flags.stdin, tty });
  const code = await connectStreams(stream, streams, { tty });
  if (code !== 0) note(`command terminated with exit code ${code}`);
  return code;
}
