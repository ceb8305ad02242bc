import {
  type Client,
  type Clock,
  createClient,
  createTransport,
  proxyFromEnvironment,
  sleep,
  systemClock,
} from '@asterism/client';
import {
  type AgentManifestsOptions,
  agentManifests,
  agentProgress,
  applyInMember,
  checkHub,
  checkMember,
  type Finding,
  hasFault,
  type Permissions,
  removeOtherPermissions,
  resolvePermissions,
} from '@asterism/fleet/join';
import type { KubeObject } from '@asterism/machinery';
import { documents } from '../commands/manifests.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { readStdin } from '../manifests.ts';
import { formatFinding } from '../output/findings.ts';
import type { Terminal } from '../output/terminal.ts';
import { noteNamespaces } from '../service/permission-flags.ts';
import { endpointOf, memberConnection } from '../service/member-connection.ts';
import { readAuthority } from '../service/read-authority.ts';
import { readBootstrapToken } from '../service/read-bootstrap-token.ts';
import { type JoinFlags, type JoinOptions, parseJoinFlags } from './join-options.ts';
import { oneLine } from '../output/one-line.ts';

const USER_AGENT = 'aster';

/**
 * `aster join`: puts an agent into a cluster, which then joins the hub by itself. Everything is looked at before anything is
 * changed; run again it puts right what differs. With `--manifest` it prints what it would apply and contacts nobody.
 */
export async function join(flags: JoinFlags, terminal: Terminal, clock: Clock = systemClock): Promise<number> {
  if (flags.push) return await (await import('./join-push.ts')).joinPush(flags, terminal, clock);
  const options = parseJoinFlags(flags);
  const ca = 'pin' in options.hubCa ? options.hubCa.pin : await readAuthority('--hub-ca', options.hubCa.file);
  const caBundle =
    options.endpointCa === undefined ? undefined : await readAuthority('--endpoint-ca', options.endpointCa);
  const destinations = {
    origins: options.destinations,
    caData:
      options.destinationCa === undefined ? undefined : await readAuthority('--destination-ca', options.destinationCa),
  };
  // As it is reached from here; the agent's way is `--proxy`.
  const proxyUrl = proxyFromEnvironment(options.hubServer);
  const hub = { server: options.hubServer, ca, token: await tokenOf(flags), proxyUrl };
  if (flags.manifest) {
    if (hub.token === undefined) throw noToken();
    const endpoint = options.endpoint === undefined ? undefined : { server: options.endpoint, caBundle };
    if (options.syncMode === 'Push' && !endpoint) throw noEndpoint();
    noteNamespaces(options.permissions, terminal);
    terminal.out(await documents(agentManifests({ ...options, hub, endpoint, destinations })));
    return EXIT.fine;
  }
  const member = await memberConnection(flags);
  const endpoint = endpointOf(member, { ...options, caBundle });
  await using transport = createTransport(member.connection);
  const client = createClient({ transport, userAgent: USER_AGENT, fieldManager: USER_AGENT });
  const manifests: AgentManifestsOptions = {
    ...options,
    permissions: await permissionsFor(client, options),
    hub,
    destinations,
    endpoint: endpoint && { ...endpoint, caBundle: endpoint.caBundle ?? member.connection.caData },
  };
  const authority = await preflight({ manifests, client, where: member.connection.server, terminal, clock });
  const objects = agentManifests(manifests);
  if (flags.dryRun) {
    for (const object of objects) terminal.out(oneLine(`would apply ${nameOf(object)}`));
    return EXIT.fine;
  }
  await applyInMember(client, objects, { onApplied: (object) => terminal.err(oneLine(`applied ${nameOf(object)}`)) });
  if (manifests.permissions) await removeOtherPermissions(client, manifests.permissions);
  if (flags.wait === false) return EXIT.fine;
  await using hubTransport = createTransport({
    server: hub.server,
    proxyUrl,
    caData: authority,
    credential: hub.token === undefined ? { kind: 'none' } : { kind: 'token', token: hub.token },
  });
  const asker = hub.token === undefined ? undefined : createClient({ transport: hubTransport, userAgent: USER_AGENT });
  return await waitUntilReady({ client, hub: asker, options, terminal, clock });
}

/** A member that does not answer is reported by the checks that follow. */
async function permissionsFor(
  client: Client,
  { syncMode, permissions }: JoinOptions,
): Promise<Permissions | undefined> {
  return await resolvePermissions(client, { syncMode, given: permissions }).catch(() => permissions);
}

interface Preflight {
  manifests: AgentManifestsOptions;
  client: Client;
  where: string;
  terminal: Terminal;
  clock: Clock;
}

/** Prints what was found. Rejects where there is a fault; gives the hub's authority, PEM. */
async function preflight({ manifests, client, where, terminal, clock }: Preflight): Promise<string> {
  const { hub, clusterName, proxy, hostNetwork = false } = manifests;
  const fromPod = !hostNetwork && proxy === undefined;
  const environment = process.env;
  const atHub = await checkHub({ hub, clock, userAgent: USER_AGENT, environment, fromPod });
  const inMember = await checkMember({
    member: client,
    where,
    clusterName,
    hubAuthority: atHub.authority,
    objects: agentManifests(manifests),
    clock,
  });
  const findings: Finding[] = [...atHub.findings, ...inMember.findings];
  if (hub.token === undefined && inMember.joinedAs === undefined) {
    findings.push({
      check: 'token',
      state: 'Fault',
      message: `there is no bootstrap token, and ${where} has not joined yet`,
      remedy: 'give --token, --token-file or $ASTERISM_TOKEN: `aster token create` at the hub makes one',
    });
  }
  for (const finding of findings) terminal.err(formatFinding(finding, terminal.style));
  if (hasFault(findings) || atHub.authority === undefined) {
    throw new CommandError('nothing was changed: put right what is at fault, and run this again');
  }
  return atHub.authority;
}

interface Waiting {
  client: Client;
  hub: Client | undefined;
  options: JoinOptions;
  terminal: Terminal;
  clock: Clock;
}

/** Between two looks, ms: a person waits. */
const LOOK_MS = 1_000;

/** Says what it hangs on, each time that it is something else. */
async function waitUntilReady({ client, hub, options, terminal, clock }: Waiting): Promise<number> {
  const { clusterName, timeoutMs } = options;
  const deadline = clock.monotonic() + timeoutMs;
  for (let said = ''; ; ) {
    const progress = await agentProgress(client, hub);
    if (progress.state === 'Ready') {
      terminal.out(oneLine(`${clusterName} has joined ${options.hubServer}`));
      return EXIT.fine;
    }
    const { message } = progress;
    if (progress.state === 'Refused') throw new CommandError(message);
    if (message !== said) terminal.err(oneLine(`waiting: ${message}`));
    said = message;
    if (clock.monotonic() >= deadline) {
      throw new CommandError(
        `${clusterName} is not ready after ${options.timeoutMs / 1000} s: ${message}. The agent goes on trying; run this again to look`,
        EXIT.timeout,
      );
    }
    await sleep(clock, Math.min(LOOK_MS, Math.max(deadline - clock.monotonic(), 0)));
  }
}

const nameOf = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata?.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata?.name}`;

async function tokenOf({ token, tokenFile }: JoinFlags): Promise<string | undefined> {
  if (token !== undefined && tokenFile !== undefined) {
    throw new CommandError('--token, --token-file: one of them is enough', EXIT.usage);
  }
  if (token !== undefined && !/^\S+$/.test(token)) throw new CommandError('--token: it is no token', EXIT.usage);
  return await readBootstrapToken({
    file: tokenFile,
    variable: token ?? process.env['ASTERISM_TOKEN'],
    onMissing: (file) => {
      throw new CommandError(`--token-file: there is no file ${file}`, EXIT.usage);
    },
    readStdin,
  });
}

const noToken = (): CommandError =>
  new CommandError(
    'which token? Give --token, --token-file or $ASTERISM_TOKEN: `aster token create` at the hub makes one',
    EXIT.usage,
  );

const noEndpoint = (): CommandError =>
  new CommandError(
    '--endpoint: the hub is to dial this cluster (push): say where its API server is, or join with --mode pull',
    EXIT.usage,
  );
