import type { PeerCertificate } from 'node:tls';
import { CREDENTIAL_ID, type UserInfo } from './user-info.ts';

/** The attribute of a subject that holds a user's uid: a number of Kubernetes' own. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** What a client certificate says of its holder. */
export interface ClientCertificate {
  commonName: string;
  organizations: string[];
  uid?: string;
  /** SHA-256 of the whole certificate, in hex. */
  fingerprint?: string;
}

/**
 * Reads what Node tells of a certificate (`getPeerCertificate`, `toLegacyObject`). Of several common names the last one counts, as
 * Go reads them. Undefined where it has more than one uid, or an empty one (KEP-5018): such a certificate counts for nothing.
 */
export function readClientCertificate(
  shown: Partial<Pick<PeerCertificate, 'subject' | 'fingerprint256'>>,
): ClientCertificate | undefined {
  const subject = (shown.subject ?? {}) as unknown as Readonly<Record<string, string | string[] | undefined>>;
  const values = (name: string): string[] => [subject[name] ?? []].flat();
  const uids = values(UID_ATTRIBUTE);
  const [uid] = uids;
  if (uids.length > 1 || uid === '') return undefined;
  return {
    commonName: values('CN').at(-1) ?? '',
    organizations: values('O'),
    ...(uid === undefined ? {} : { uid }),
    fingerprint: (shown.fingerprint256 ?? '').replaceAll(':', '').toLowerCase(),
  };
}

/** Whom a certificate names; undefined for nobody. */
export function userOfCertificate({
  commonName,
  organizations,
  uid,
  fingerprint,
}: ClientCertificate): UserInfo | undefined {
  if (commonName === '') return undefined;
  return {
    username: commonName,
    ...(uid === undefined ? {} : { uid }),
    groups: [...organizations],
    ...(fingerprint ? { extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] } } : {}),
  };
}
