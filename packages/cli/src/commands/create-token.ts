import { createBootstrapToken } from '@asterism/fleet/join';
import { EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseClusterName } from '../service/agent-options.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { hubIdentity } from './hub-identity.ts';
import { parseTtl } from './parse-ttl.ts';
import { agentCommand, tokenAdvice } from './token-advice.ts';

export interface CreateTokenFlags extends SessionFlags {
  ttl: string;
  autoApprove?: boolean;
  cluster?: string;
  output?: 'json';
}

/**
 * `aster token create`: the token alone goes to stdout, so that it can go into a file without having been on a screen; what to
 * do with it goes to stderr. With `-o json` everything is one object on stdout.
 */
export async function createToken(flags: CreateTokenFlags, terminal: Terminal): Promise<number> {
  const ttl = parseTtl(flags.ttl);
  const cluster = flags.cluster === undefined ? undefined : parseClusterName('--cluster', flags.cluster);
  const autoApprove = flags.autoApprove === true;
  await using session = await openSession(flags);
  const hub = await hubIdentity(session.connection);
  const { token, id, expires } = await createBootstrapToken(session.hub, { ttl, autoApprove, cluster });
  if (flags.output === 'json') {
    const { server, pin, ca } = hub;
    const told = { token, id, expires, hub: server, hubCaPin: pin, hubCa: ca, command: agentCommand(hub, cluster) };
    terminal.out(`${JSON.stringify(told, null, 2)}\n`);
    return EXIT.fine;
  }
  terminal.out(`${token}\n`);
  terminal.err(tokenAdvice({ hub, cluster, expires, autoApprove }));
  return EXIT.fine;
}
