import { type Clock, systemClock } from '@asterism/client';
import { CLUSTER_REGISTRATIONS } from '@asterism/fleet/api';
import { type BootstrapToken, createBootstrapToken } from '@asterism/fleet/join';
import { formatApiVersion, SECRETS } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseClusterName } from '../service/agent-options.ts';
import { type FactFlags, parsePlacementFacts } from './placement-facts-flags.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';
import { hubIdentity } from './hub-identity.ts';
import { parseTtl } from './parse-ttl.ts';
import { joinCommand, tokenAdvice } from './token-advice.ts';
import { isTokenTaken } from './try-token.ts';
import { oneLine } from '../output/one-line.ts';

export interface CreateTokenFlags extends SessionFlags, FactFlags {
  ttl: string;
  autoApprove?: boolean;
  cluster?: string;
  output?: 'json' | 'token';
}

/**
 * `aster token create`: the command for the other side goes to stdout, and what there is to know about it to stderr. With
 * `-o token` stdout has the token alone, so that it can go into a file without having been on a screen; with `-o json`
 * everything is one object there. A token that nobody would take is not left behind.
 */
export async function createToken(
  flags: CreateTokenFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  const ttl = parseTtl(flags.ttl);
  const cluster = flags.cluster === undefined ? undefined : parseClusterName('--cluster', flags.cluster);
  const autoApprove = flags.autoApprove === true;
  const facts = parsePlacementFacts(flags);
  await using session = await openSession(flags, terminal);
  // Whoever has no such kinds is no hub, and rejects here.
  await session.hub.getJson(`/apis/${formatApiVersion(CLUSTER_REGISTRATIONS)}`);
  const hub = await hubIdentity(session.connection);
  const made = await createBootstrapToken(session.hub, { ttl, autoApprove, cluster, facts });
  await refuseUnlessTaken(session, made, clock);
  const { token, id, expires } = made;
  if (flags.output === 'json') {
    const { server, pin, ca } = hub;
    const told = {
      token,
      id,
      expires,
      hub: server,
      hubCaPin: pin,
      hubCa: ca,
      command: joinCommand(hub, token, cluster),
    };
    terminal.out(`${JSON.stringify(told, null, 2)}\n`);
    return EXIT.fine;
  }
  terminal.out(oneLine(`${flags.output === 'token' ? token : joinCommand(hub, token, cluster)}`));
  terminal.err(tokenAdvice({ hub, cluster, expires, autoApprove }));
  return EXIT.fine;
}

/** A Secret that could not be deleted does no harm: nobody takes the token, and it expires. */
async function refuseUnlessTaken(
  { hub, connection }: Session,
  { token, id }: BootstrapToken,
  clock: Clock,
): Promise<void> {
  if (await isTokenTaken(connection, token, clock)) return;
  await hub
    .resource(SECRETS)
    .delete({ namespace: 'kube-system', name: `bootstrap-token-${id}` })
    .catch(() => {});
  throw new CommandError(
    `${connection.server} does not take the token that was made there, so no cluster could join with it. Where a hub's templates ` +
      'are (--templates embedded) nobody looks for tokens: use the kubeconfig of the kube-apiserver that the hub runs on. If this ' +
      'is that one, it needs --enable-bootstrap-token-auth',
  );
}
