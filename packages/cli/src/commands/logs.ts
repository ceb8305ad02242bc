import type { Readable } from 'node:stream';
import { once } from 'node:events';
import type { Client } from '@asterism/client';
import type { Pod } from '@asterism/machinery';
import { CommandError, describeError, EXIT } from '../exit-code.ts';
import { escapeLog } from '../output/escape-log.ts';
import type { StandardStreams } from '../output/standard-streams.ts';
import type { Terminal } from '../output/terminal.ts';
import { chooseContainer, containersOf } from '../reach/choose-container.ts';
import { locate, type LocateFlags, locateSelected } from '../reach/locate.ts';
import { type LogFlags, logQuery, type LogSource, openLog } from '../reach/log-source.ts';
import { prefixLines } from '../reach/prefix-lines.ts';
import { parseTarget } from '../reach/target.ts';
import { openSession, type Session } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface LogsFlags extends LocateFlags, LogFlags {
  container?: string;
  allContainers?: boolean;
  selector?: string;
  prefix?: boolean;
  maxLogRequests: string;
}

/** Of each log, where a selector takes several: as kubectl has it. */
const TAIL_OF_SEVERAL = 10;

/** `aster logs`: of a pod, or of what has pods, wherever in the fleet that is. */
export async function logs(
  word: string | undefined,
  flags: LogsFlags,
  { terminal, streams }: { terminal: Terminal; streams: StandardStreams },
): Promise<number> {
  const query = logQuery(flags, flags.selector === undefined ? undefined : TAIL_OF_SEVERAL);
  const most = readMost(flags.maxLogRequests);
  refuseContradictions(word, flags);
  const note = (line: string): void => terminal.err(oneLine(`${line}`));
  await using session = await openSession(flags, terminal);
  const { client, cluster, pods } = await podsFor(session, word, flags, note);
  const sources = pods.flatMap((pod) => sourcesOf(pod, flags, note));
  if (flags.follow && sources.length > most) {
    throw new CommandError(
      `${sources.length} logs would be followed at once: choose fewer, or raise --max-log-requests (${most})`,
      EXIT.usage,
    );
  }
  const open = (source: LogSource): Promise<Readable> => openLog(client, session.namespace, source, query);
  const print = printer(cluster, flags, streams, sources.length > 1);
  if (!flags.follow || sources.length === 1) {
    for (const source of sources) await print(source, await open(source));
    return EXIT.fine;
  }
  const outcomes = await Promise.allSettled(sources.map(async (source) => await print(source, await open(source))));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ source: sources[index], reason: outcome.reason as unknown }] : [],
  );
  if (failures.length === sources.length) throw failures[0]?.reason;
  for (const { source, reason } of failures) note(`${source?.pod} ${source?.container}: ${describeError(reason)}`);
  return failures.length === 0 ? EXIT.fine : EXIT.error;
}

function refuseContradictions(word: string | undefined, { selector, container, allContainers }: LogsFlags): void {
  const refuse = (message: string): never => {
    throw new CommandError(message, EXIT.usage);
  };
  if (word === undefined && selector === undefined) refuse('whose log? for example: web-0, deploy/web, -l app=web');
  if (word !== undefined && selector !== undefined) refuse('a name and -l do not go together: choose one');
  if (container !== undefined && allContainers) refuse('-c and --all-containers do not go together: choose one');
}

function readMost(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new CommandError(`--max-log-requests: ${JSON.stringify(text)} is no number from 1 on`, EXIT.usage);
}

async function podsFor(
  session: Session,
  word: string | undefined,
  flags: LogsFlags,
  note: (line: string) => void,
): Promise<{ client: Client; cluster: string; pods: readonly Pod[] }> {
  if (word === undefined) return await locateSelected(session, flags.selector ?? '', flags, note);
  const target = parseTarget(word);
  const { client, cluster, pods } = await locate(session, target, flags, { order: 'telling', note });
  const [first] = pods;
  if (pods.length > 1) note(`Found ${pods.length} pods in ${cluster}, using pod/${first.metadata?.name}`);
  return { client, cluster, pods: [first] };
}

function sourcesOf(pod: Pod, flags: LogsFlags, note: (line: string) => void): LogSource[] {
  const name = pod.metadata?.name ?? '';
  const containers = flags.allContainers ? inOrderOfStart(pod) : [chooseContainer(pod, flags.container, note)];
  return containers.map((container) => ({ pod: name, container }));
}

function inOrderOfStart(pod: Pod): string[] {
  const first = (pod.spec?.initContainers ?? []).map((container) => container.name);
  return [...first, ...containersOf(pod).filter((name) => !first.includes(name))];
}

/** Copies a log to stdout, where there are several by whole lines. A screen gets it without control characters, a pipe as it is. */
function printer(
  cluster: string,
  { prefix }: LogsFlags,
  { stdout }: StandardStreams,
  several: boolean,
): (source: LogSource, log: Readable) => Promise<void> {
  let drained: Promise<unknown> | undefined;
  const toScreen = 'isTTY' in stdout && stdout.isTTY === true;
  return async ({ pod, container }, log) => {
    const begin = prefix ? `[${cluster}/${pod}/${container}] ` : '';
    const pieces = unbroken(log, `the log of pod ${pod}, container ${container}, in ${cluster}`);
    const lines = prefix || several ? prefixLines(pieces, begin) : pieces;
    for await (const piece of toScreen ? escapeLog(lines) : lines) {
      if (stdout.write(piece)) continue;
      drained ??= once(stdout, 'drain').finally(() => (drained = undefined));
      await drained;
    }
  };
}

/** The same, where a break says what broke. */
async function* unbroken(log: AsyncIterable<Uint8Array>, what: string): AsyncIterable<Uint8Array> {
  try {
    yield* log;
  } catch (cause) {
    throw new CommandError(`${what} broke off: ${describeError(cause)}`, EXIT.error, { cause });
  }
}
