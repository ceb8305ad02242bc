import { MAX_CLUSTER_NAME } from '@asterism/fleet/api';
import type { HubIdentity } from './hub-identity.ts';

const CA_FILE = 'hub-ca.crt';

/**
 * What the other side calls, whole, for a cluster of this name or for any. It holds the token: whoever would rather not have it in a
 * shell's history takes it by itself (`-o token`), and gives `--token-file` there.
 */
export function joinCommand({ server, pin }: HubIdentity, token: string, cluster = 'NAME'): string {
  const trust = pin === undefined ? `--hub-ca ${CA_FILE}` : `--ca-hash ${pin}`;
  return `aster join --hub ${server} --token ${token} ${trust} --name ${cluster}`;
}

export interface TokenUse {
  hub: HubIdentity;
  cluster?: string | undefined;
  /** RFC 3339. */
  expires: string;
  autoApprove: boolean;
}

/** How the command of a token is used, for a person; it does not hold the token. */
export function tokenAdvice({ hub, cluster, expires, autoApprove }: TokenUse): string {
  const parts = [
    `The token in it is shown once, and can be used until ${expires}.`,
    ...(hub.pin === undefined ? [caFile(hub)] : []),
    'Run the command where the cluster is administered (--kubeconfig FILE says by which kubeconfig), or with --manifest added,\n' +
      'to have what it would apply printed for `kubectl apply -f -`.',
    ...(cluster === undefined
      ? [`NAME is what the cluster shall be called here: at most ${MAX_CLUSTER_NAME} characters.`]
      : []),
    ...(autoApprove
      ? []
      : [
          `Then let it in here (\`aster get clusterregistrations\` shows who asks):\n  aster approve ${cluster ?? 'NAME'}`,
        ]),
    ...(hub.onlyHere
      ? [`${hub.server} leads to this machine alone: elsewhere give --hub an address that leads here.`]
      : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function caFile({ ca, server }: HubIdentity): string {
  return ca === undefined
    ? `The kubeconfig holds no CA of ${server}: put the PEM of its authority into ${CA_FILE} on the other side.`
    : `${server} does not show its CA to whoever connects, so a pin is not enough. On the other side, first:\n` +
        `cat > ${CA_FILE} <<EOF\n${ca.trim()}\nEOF`;
}
