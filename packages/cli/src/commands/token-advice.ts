import { MAX_CLUSTER_NAME } from '@asterism/fleet/api';
import type { HubIdentity } from './hub-identity.ts';

const CA_FILE = 'hub-ca.crt';

/**
 * What the other side calls, for a cluster of this name or for any. The token is in a file there: an argument could be seen by
 * every user of that machine.
 */
export function agentCommand({ server, pin }: HubIdentity, cluster = 'NAME'): string {
  return (
    `aster agent --kubeconfig ${cluster}.kubeconfig --name ${cluster} --mode pull --hub ${server} ` +
    `--hub-ca ${pin ?? CA_FILE} --token-file token`
  );
}

export interface TokenUse {
  hub: HubIdentity;
  cluster?: string | undefined;
  /** RFC 3339. */
  expires: string;
  autoApprove: boolean;
}

/** How a token is used, for a person; it does not hold the token. */
export function tokenAdvice({ hub, cluster, expires, autoApprove }: TokenUse): string {
  const parts = [
    `This token is shown once, and can be used until ${expires}.`,
    ...(hub.pin === undefined ? [caFile(hub)] : []),
    'On the other side, with the token in the file `token`:\n' +
      `  aster agent manifests --mode pull | kubectl --kubeconfig ${cluster ?? 'NAME'}.kubeconfig apply -f -\n` +
      `  ${agentCommand(hub, cluster)}`,
    ...(cluster === undefined
      ? [`NAME is what the cluster shall be called here: at most ${MAX_CLUSTER_NAME} characters.`]
      : []),
    ...(autoApprove ? [] : [`Then let it in here (\`aster get clusterregistrations\` shows who asks):\n  ${APPROVE}`]),
    ...(hub.onlyHere
      ? [`${hub.server} leads to this machine alone: elsewhere give --hub an address that leads here.`]
      : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

const APPROVE =
  'kubectl patch clusterregistration REGISTRATION --subresource=status --type=merge -p \'{"status":{"decision":"Approved"}}\'';

function caFile({ ca, server }: HubIdentity): string {
  return ca === undefined
    ? `The kubeconfig holds no CA of ${server}: put the PEM of its authority into ${CA_FILE} on the other side.`
    : `${server} does not show its CA to whoever connects, so a pin is not enough. On the other side, first:\n` +
        `cat > ${CA_FILE} <<EOF\n${ca.trim()}\nEOF`;
}
