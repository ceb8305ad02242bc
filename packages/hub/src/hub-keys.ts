import { X509Certificate } from 'node:crypto';
import { type KeyPair, openServerPki, type ServerPki } from '@asterism/apiserver';
import { ADMINS_GROUP } from '@asterism/fleet/api';
import { HubError } from './hub-error.ts';

/** The certificate that the hub serves, with its authority behind it. */
export function tlsOf({ serving, ca }: ServerPki): KeyPair {
  return { cert: serving.cert + ca.cert, key: serving.key };
}

/** The user of the client certificate in the hub's kubeconfig. */
export const ADMIN_USER = 'admin';

export interface HubKeysOptions {
  dir: string;
  /** Names and addresses in the serving certificate. */
  hosts: readonly string[];
  now: number;
  /** How long the hub's own certificates are valid, ms. */
  lifeMs: number;
  /** Issues the hub's own certificates again, by the same authority. */
  reissue?: boolean;
}

/**
 * The hub's keys, made at the first start. Throws `HubError` `KeysUnusable`, or `ClockOff` where the authority is of a time
 * that has not come yet: certificates signed now would not be accepted by anybody.
 */
export async function openHubKeys(options: HubKeysOptions): Promise<ServerPki> {
  const { dir, hosts, now, lifeMs, reissue } = options;
  const keys = await openServerPki({
    dir,
    commonName: 'asterism-hub',
    hosts,
    admin: { commonName: ADMIN_USER, organizations: [ADMINS_GROUP] },
    now,
    leafMs: lifeMs,
    reissue,
  }).catch((cause: Error) => {
    throw new HubError(
      'KeysUnusable',
      `the keys in ${dir} cannot be used: ${cause.message}. Restore them from a backup; if there is none, move the folder ` +
        'away: a new authority is made, and every cluster has to join again',
      cause,
    );
  });
  const authority = new X509Certificate(keys.ca.cert);
  if (authority.validFromDate.getTime() > now) {
    throw new HubError(
      'ClockOff',
      `this machine's clock says ${new Date(now).toISOString()}, but the hub's authority in ${dir} begins only at ` +
        `${authority.validFromDate.toISOString()}: set the clock right`,
    );
  }
  if (authority.validToDate.getTime() <= now) {
    throw new HubError(
      'KeysUnusable',
      `the hub's authority in ${dir} ended at ${authority.validToDate.toISOString()} (now it is ` +
        `${new Date(now).toISOString()}): if the clock is right, move the folder away and let every cluster join again`,
    );
  }
  return keys;
}
