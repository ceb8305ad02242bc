import {
  clientCertificate,
  type Client,
  type Clock,
  type Connection,
  createClient,
  createTransport,
  loadKubeconfig,
  sleep,
} from '@asterism/client';
import { CLUSTERS } from '@asterism/fleet/api';
import {
  checkMember,
  checkRights,
  clusterId,
  DIRECT_ATTEMPTS,
  type DirectCredential,
  type DirectJoin,
  directJoinFault,
  directManifests,
  type Finding,
  hasFault,
  joinDirect,
  resolvePermissions,
} from '@asterism/fleet/join';
import { findCondition, isConditionTrue } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import { formatFinding } from '../output/findings.ts';
import type { Terminal } from '../output/terminal.ts';
import { readConnection } from '../read-connection.ts';
import { parseClusterName, parseFacts, parseServer } from '../service/agent-options.ts';
import { parsePermissions } from '../service/permission-flags.ts';
import { readAuthority } from '../service/read-authority.ts';
import { openSession } from '../session.ts';
import { type JoinFlags, parseTimeout, refuseForeignFlags } from './join-options.ts';
import { oneLine } from '../output/one-line.ts';

const USER_AGENT = 'aster';
/** How long the hub may take to make what belongs to a cluster, ms. */
const PATIENCE_MS = 30_000;
/** Between two looks, ms: a person waits. */
const LOOK_MS = 500;

/**
 * `aster join --push`: a cluster that the hub dials, without an agent in it. Called where both can be reached. Everything is looked
 * at before anything is changed; called again it goes on, or renews the credential.
 */
export async function joinPush(flags: JoinFlags, terminal: Terminal, clock: Clock): Promise<number> {
  refuseForeignFlags(flags);
  if (flags.name === undefined) throw new CommandError('--name must be given (--help tells more)', EXIT.usage);
  if (flags.kubeconfig === undefined) {
    throw new CommandError('--kubeconfig must be given: the kubeconfig of the cluster that joins', EXIT.usage);
  }
  const clusterName = parseClusterName('--name', flags.name);
  const timeoutMs = parseTimeout(flags.timeout ?? '5m');
  const { kubeconfig, context, endpointCa } = flags;
  const connection = await readConnection(await loadKubeconfig(kubeconfig), {
    context,
    where: kubeconfig,
    verified: endpointCa === undefined && { orGive: '--endpoint-ca FILE' },
  });
  const endpoint = await endpointOf(flags, connection);
  const given = flags.useGivenCredential ? givenCredential(connection) : undefined;
  const asked = parsePermissions(flags);
  if (given && asked) {
    throw new CommandError('--permissions: no account is made with --use-given-credential', EXIT.usage);
  }
  const toHub = { kubeconfig: flags.hubKubeconfig, context: flags.hubContext } as object;
  await using session = await openSession(toHub, undefined, { verified: true });
  await using transport = createTransport(dialled(connection, endpoint));
  const member = createClient({ transport, userAgent: USER_AGENT, fieldManager: USER_AGENT });
  const permissions = given
    ? undefined
    : await resolvePermissions(member, { syncMode: 'Push', given: asked }).catch(() => asked);
  const join: DirectJoin = { clusterName, endpoint, description: parseFacts(flags), permissions, given };
  const findings = await look({ hub: session.hub, member, join, clock });
  for (const finding of findings) terminal.err(formatFinding(finding, terminal.style));
  if (hasFault(findings)) {
    throw new CommandError('nothing was changed: put right what is at fault, and run this again');
  }
  if (flags.dryRun) {
    const made = given ? [] : directManifests(permissions);
    for (const { kind, metadata } of made) terminal.out(oneLine(`would apply ${kind} ${metadata?.name}`));
    terminal.out(oneLine(`would create Cluster ${clusterName}, dialled at ${endpoint.server}`));
    return EXIT.fine;
  }
  const onStep = (step: string): void => terminal.err(oneLine(`${step}`));
  await joinDirect(join, { hub: session.hub, member, clock, patienceMs: PATIENCE_MS, onStep });
  if (flags.wait === false) return EXIT.fine;
  await waitUntilReady(session.hub, clusterName, { terminal, clock, timeoutMs });
  terminal.out(oneLine(`${clusterName} has joined ${session.connection.server}`));
  return EXIT.fine;
}

/** Nothing is ever dialled unverified: `--endpoint-ca` stands for the kubeconfig's authority, also where that would skip the look. */
async function endpointOf(flags: JoinFlags, connection: Connection): Promise<DirectJoin['endpoint']> {
  const server = flags.endpoint === undefined ? connection.server : parseServer('--endpoint', flags.endpoint);
  if (!server.startsWith('https://')) {
    throw new CommandError(`${server} is not https: the hub dials nothing else. Give --endpoint`, EXIT.usage);
  }
  const file = flags.endpointCa;
  const caBundle = file === undefined ? connection.caData : await readAuthority('--endpoint-ca', file);
  return { server, caBundle, tlsServerName: flags.endpoint === undefined ? connection.tlsServerName : undefined };
}

/** As the hub will dial it, with the rights of who joins it. */
function dialled(connection: Connection, { server, caBundle, tlsServerName }: DirectJoin['endpoint']): Connection {
  const { credential, impersonate } = connection;
  return {
    server,
    credential,
    ...(caBundle === undefined ? {} : { caData: caBundle }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(impersonate ? { impersonate } : {}),
  };
}

function givenCredential({ credential, impersonate }: Connection): DirectCredential {
  if (impersonate === undefined) {
    const certificate = clientCertificate(credential);
    if (credential.kind === 'token') return { token: credential.token, certificate };
    if (credential.kind === 'certificate') return { certificate };
  }
  const what = impersonate ? 'impersonates somebody' : `is of the kind ${credential.kind}`;
  throw new CommandError(
    `--use-given-credential: the kubeconfig's credential ${what}, which the hub cannot keep: only a token or a client certificate ` +
      'can be. Leave the flag out, and an account is made for the hub',
    EXIT.usage,
  );
}

interface Looking {
  hub: Client;
  member: Client;
  join: DirectJoin;
  clock: Clock;
}

async function look({ hub, member, join, clock }: Looking): Promise<Finding[]> {
  const { clusterName, endpoint, permissions, given } = join;
  const clusters = (await hub.resource(CLUSTERS).list()).items;
  const atHub = await checkRights(hub, {
    attempts: [
      { verb: 'create', group: CLUSTERS.group, resource: 'clusters' },
      { verb: 'update', group: CLUSTERS.group, resource: 'clusters' },
      { verb: 'patch', group: '', resource: 'secrets', namespace: `asterism-cluster-${clusterName}` },
    ],
    where: 'the hub',
  });
  const { findings } = await checkMember({
    member,
    where: endpoint.server,
    clusterName,
    hubAuthority: undefined,
    objects: given ? [] : directManifests(permissions),
    further: given ? DIRECT_ATTEMPTS : [],
    clock,
  });
  if (hasFault(findings)) return [atHub, ...findings];
  const fault = directJoinFault(clusterName, await clusterId(member), clusters);
  const free: Finding = fault
    ? { check: 'name', state: 'Fault', message: fault, remedy: 'see `aster get clusters`' }
    : { check: 'name', state: 'Fine', message: `"${clusterName}" is this cluster's to have in the hub` };
  return [atHub, ...findings, free];
}

interface Waiting {
  terminal: Terminal;
  clock: Clock;
  timeoutMs: number;
}

async function waitUntilReady(hub: Client, name: string, { terminal, clock, timeoutMs }: Waiting): Promise<void> {
  const deadline = clock.monotonic() + timeoutMs;
  for (let said = ''; ; await sleep(clock, LOOK_MS)) {
    const { status } = await hub.resource(CLUSTERS).get({ name });
    if (isConditionTrue(status?.conditions, 'Ready')) return;
    const message = findCondition(status?.conditions, 'Ready')?.message ?? 'the hub has not looked at it yet';
    if (message !== said) terminal.err(oneLine(`waiting: ${message}`));
    said = message;
    if (clock.monotonic() < deadline) continue;
    throw new CommandError(
      `${name} is not ready after ${timeoutMs / 1000} s: ${message}. The hub goes on trying; aster doctor -C ${name} looks closer`,
      EXIT.timeout,
    );
  }
}
