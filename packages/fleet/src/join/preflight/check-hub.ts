import { isIP } from 'node:net';
import { type Client, type Clock, createClient, createTransport } from '@asterism/client';
import { formatApiVersion, type KubeObject, StatusError } from '@asterism/machinery';
import { CLUSTER_REGISTRATIONS } from '../../api/index.ts';
import { explainHubFailure } from '../connect/explain-failure.ts';
import { type HubAddress, resolveHubAuthority } from '../connect/hub-trust.ts';
import { type Finding, fault, fine } from '../finding.ts';
import type { JoinError, JoinErrorCode } from '../join-error.ts';
import { clockFinding, clockSkew } from './check-clock.ts';
import { isAllowed } from './check-rights.ts';

export interface CheckHubOptions {
  hub: HubAddress;
  clock: Clock;
  signal?: AbortSignal | undefined;
  userAgent: string;
  /** Variables that may name a proxy. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The agent is to run as a pod with a network of its own, where loopback leads to the pod. */
  fromPod?: boolean | undefined;
}

/**
 * Looks, as a cluster that wants to join, whether the hub can be reached, is the one that the pin or CA names, and would take the
 * request. Changes nothing; sends the token to nobody but the hub that was verified. Stops at the first fault that hides the
 * rest.
 */
export async function checkHub(options: CheckHubOptions): Promise<{ findings: Finding[]; authority?: string }> {
  const { hub, signal, fromPod = false } = options;
  const findings: Finding[] = [];
  if (fromPod && leadsToItself(hub.server)) {
    findings.push(
      fault(
        'hub address',
        `${hub.server} leads the agent's pod to the pod itself`,
        "give --hub an address of the hub that is reached from the cluster, or let the pod share its node's network (--host-network)",
      ),
    );
  }
  let authority: string;
  try {
    authority = await resolveHubAuthority(hub, undefined, signal);
  } catch (error) {
    return { findings: [...findings, reachFault(error, options)] };
  }
  const credential = hub.token === undefined ? { kind: 'none' as const } : { kind: 'token' as const, token: hub.token };
  await using transport = createTransport({
    server: hub.server,
    proxyUrl: hub.proxyUrl,
    caData: authority,
    credential,
  });
  const client = createClient({ transport, userAgent: options.userAgent });
  try {
    const sent = options.clock.wall().getTime();
    const { status, headers, body } = await client.request({ method: 'GET', path: '/version', signal });
    body.destroy();
    const ahead = clockSkew(String(headers['date'] ?? ''), sent, options.clock.wall().getTime());
    findings.push(
      fine('hub', `${hub.server} answers, and is the hub that ${described(hub)} names`),
      clockFinding('clock', 'the hub', ahead),
    );
    if (hub.token !== undefined) findings.push(await checkToken(client, hub, status, signal));
  } catch (error) {
    findings.push(reachFault(error, options));
  }
  return { findings, authority };
}

const described = ({ ca }: HubAddress): string => (ca.startsWith('sha256:') ? 'the pin' : 'the CA');

async function checkToken(
  client: Client,
  { server }: HubAddress,
  status: number,
  signal: AbortSignal | undefined,
): Promise<Finding> {
  const ask = 'ask an administrator of the hub for a new one: `aster token create`';
  if (status === 401) {
    return fault('token', `the hub ${server} does not take the bootstrap token: wrong, expired or revoked`, ask);
  }
  const list = await kindsOf(client, signal);
  if (list === undefined) {
    return fault(
      'hub',
      `${server} serves no ${formatApiVersion(CLUSTER_REGISTRATIONS)}: it is an API server, but no hub`,
      'check --hub',
    );
  }
  const may = await isAllowed(client, { ...CLUSTER_REGISTRATIONS, verb: 'create' }, { signal });
  if (may === false) {
    return fault('token', `the hub ${server} knows the token, but gives it no right to ask to join`, ask);
  }
  return fine('token', 'the hub takes the bootstrap token');
}

/** Undefined where the server has no such kinds. */
async function kindsOf(client: Client, signal: AbortSignal | undefined): Promise<KubeObject | undefined> {
  try {
    return (await client.getJson(`/apis/${formatApiVersion(CLUSTER_REGISTRATIONS)}`, { signal })) as KubeObject;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  }
}

const CHECKS: Partial<Record<JoinErrorCode, string>> = {
  HubNotTrusted: 'hub identity',
  ClockOff: 'clock',
  TokenRefused: 'token',
};

const REMEDIES: Partial<Record<JoinErrorCode, string>> = {
  HubNotTrusted: 'compare both with what `aster token create` printed at the hub; do not go on where they differ',
  ClockOff: 'set the clocks of both machines right (NTP)',
};

/** Where on the way it failed, and what to do there. */
function reachFault(error: unknown, options: CheckHubOptions): Finding {
  const { hub, signal } = options;
  signal?.throwIfAborted();
  const explained: JoinError | undefined = explainHubFailure(error, hub.server, 'token');
  if (explained === undefined) {
    return fault('hub', `${hub.server}: ${(error as Error).message}`, "look at the hub's log, and try again");
  }
  const check = CHECKS[explained.code] ?? 'reach of the hub';
  const remedy = REMEDIES[explained.code] ?? reachRemedy(explained.cause, options);
  return fault(check, explained.message, remedy);
}

const NAME_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME', 'EAI_FAIL']);
const TLS_CODES = /^(EPROTO|ERR_SSL_|ERR_TLS_)/;

function reachRemedy(cause: unknown, { hub, environment = {} }: CheckHubOptions): string {
  const { hostname, port } = new URL(hub.server);
  const code = (cause as { code?: string } | undefined)?.code ?? '';
  const proxy = environment['HTTPS_PROXY'] ?? environment['https_proxy'];
  const way =
    proxy === undefined || proxy === ''
      ? 'where only a proxy leads out, set HTTPS_PROXY'
      : 'HTTPS_PROXY is set: does that proxy let through to it?';
  if (NAME_CODES.has(code)) return `make the name ${hostname} resolve here (DNS), or give --hub its address`;
  if (TLS_CODES.test(code)) return `check that --hub is the hub's own port, not that of something before it`;
  if (code === 'ECONNREFUSED') return `check that the hub runs, and listens on port ${port || '443'} of that address`;
  return `open the way from here to ${hostname}:${port || '443'} (TCP); ${way}`;
}

function leadsToItself(server: string): boolean {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
