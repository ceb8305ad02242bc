import { type Agent, JoinError, runAgent } from '@asterism/agent';
import { parseProxyUrl, proxyFromEnvironment } from '@asterism/client';
import { keepHeapCompact, type Logger } from '@asterism/runtime';
import { CommandError, EXIT } from '../exit-code.ts';
import { stderrLogger } from '../log/json-logger.ts';
import { readStdin } from '../manifests.ts';
import { type AgentFlags, type ParsedAgentFlags, parseAgentFlags } from './agent-options.ts';
import { announce } from './announce.ts';
import { endpointOf, memberConnection } from './member-connection.ts';
import { readAuthority } from './read-authority.ts';
import { readBootstrapToken } from './read-bootstrap-token.ts';
import { serveProbes } from './serve-probes.ts';
import { stopSignal, whenAborted } from './stop-signal.ts';

/** `aster agent`: until SIGTERM or SIGINT, or until the hub says that this cluster is none of its own. */
export async function runAgentService(flags: AgentFlags): Promise<number> {
  const parsed = parseAgentFlags(flags);
  const signal = stopSignal();
  const logger = stderrLogger();
  keepHeapCompact(signal);
  const member = await memberConnection(flags);
  const caBundle =
    parsed.endpointCa === undefined ? undefined : await readAuthority('--endpoint-ca', parsed.endpointCa);
  const endpoint = endpointOf(member, { ...parsed, caBundle });
  const destinationCa =
    parsed.destinationCa === undefined ? undefined : await readAuthority('--destination-ca', parsed.destinationCa);
  const ca = await readHubCa(parsed.hubCa);
  // Nobody may ever write to stdin.
  const token = await Promise.race([tokenOf(flags, logger), whenAborted(signal)]);
  if (signal.aborted) return EXIT.fine;
  const { clusterName, syncMode, reachMode, hubServer, description, destinations } = parsed;
  const proxyUrl = proxyFromEnvironment(hubServer);
  await using agent = runAgent({
    clusterName,
    syncMode,
    hub: { server: hubServer, ca, token: token ?? undefined, proxyUrl },
    member: member.connection,
    ...(endpoint === undefined ? {} : { endpoint }),
    description,
    reachMode,
    destinations: { origins: destinations, caData: destinationCa },
    logger,
    signal,
  });
  let whyNotReady: string | undefined = 'not joined and connected yet: its log says what it waits for';
  await using _probes = parsed.probes && (await serveProbes(parsed.probes, () => whyNotReady));
  agent.ready.then(
    () => {
      whyNotReady = undefined;
    },
    () => {},
  );
  const proxy = proxyUrl === undefined ? undefined : parseProxyUrl(proxyUrl).shown;
  const ways = { hub: hubServer, proxy, member: member.connection.server, destinations };
  logger.info({ cluster: clusterName, syncMode, ...ways }, 'starting');
  try {
    await serve(agent, clusterName);
  } catch (error) {
    throw explain(error, flags);
  }
  logger.info({ cluster: clusterName }, 'stopped');
  return EXIT.fine;
}

async function serve(agent: Agent, clusterName: string): Promise<void> {
  // Stopped before it was ready is no failure, and one that cannot go on is told by `done`.
  await agent.ready.then(
    () => announce(`ready ${clusterName}`),
    () => {},
  );
  await agent.done;
}

async function readHubCa(hubCa: ParsedAgentFlags['hubCa']): Promise<string> {
  return 'pin' in hubCa ? hubCa.pin : await readAuthority('--hub-ca', hubCa.file, ', or its pin sha256:…');
}

function tokenOf({ tokenFile }: AgentFlags, logger: Logger): Promise<string | undefined> {
  if (tokenFile === '-') logger.info({}, 'waiting for the bootstrap token on stdin');
  return readBootstrapToken({
    file: tokenFile,
    variable: process.env['ASTERISM_TOKEN'],
    onMissing: (file) => logger.info({ file }, 'no token file: going on with what the cluster keeps from joining'),
    readStdin,
  });
}

function explain(error: unknown, { tokenFile }: AgentFlags): unknown {
  if (!(error instanceof JoinError)) return error;
  if (error.code === 'Denied') return new CommandError(error.message, EXIT.denied, { cause: error });
  const hint =
    error.code !== 'TokenMissing'
      ? ''
      : tokenFile === undefined
        ? ' (`aster token create` makes one), and give it in --token-file or $ASTERISM_TOKEN'
        : `: there is no file ${tokenFile}`;
  return new CommandError(error.message + hint, EXIT.error, { cause: error });
}
