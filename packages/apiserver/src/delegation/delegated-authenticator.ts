import type { X509Certificate } from 'node:crypto';
import { unauthorized } from '@asterism/machinery';
import { authenticated, bearerToken } from '../authentication/authenticator.ts';
import type { RequestAuthenticator } from '../contract/authenticator.ts';
import { readClientCertificate, userOfCertificate } from '../contract/client-certificate.ts';
import { ANONYMOUS, type UserInfo } from '../contract/user-info.ts';
import type { ApiRequest } from '../contract/api-request.ts';
import type { AuthenticationConfig } from './authentication-config.ts';
import { createCertificateVerifier } from './certificate-verifier.ts';
import type { ReviewToken } from './delegated-tokens.ts';
import { frontProxyUser } from './front-proxy.ts';

export interface DelegatedAuthenticatorOptions {
  config(): AuthenticationConfig;
  review: ReviewToken;
  /** Milliseconds since 1970. */
  now(): number;
  anonymous: boolean;
}

/**
 * Who makes a request, in upstream's order:
 *
 * A1 The front proxy's word, if the peer's certificate is of the front proxy's authority, in time, and of an allowed name.
 * A2 The certificate itself, if it is of the authority of client certificates. Headers of A1 then say nothing.
 * A3 A bearer token.
 * A4 `system:anonymous`, where that is let in and no certificate was shown that counts for nothing.
 */
export function createDelegatedAuthenticator(options: DelegatedAuthenticatorOptions): RequestAuthenticator {
  const verify = createCertificateVerifier();
  const byCertificate = (request: ApiRequest, certificate: X509Certificate): UserInfo | 'unnamed' | 'refused' => {
    const { clientCa, frontProxy } = options.config();
    const now = options.now();
    const subject = readClientCertificate(certificate.toLegacyObject());
    if (frontProxy !== undefined && verify(certificate, frontProxy.ca, now)) {
      const { allowedNames } = frontProxy;
      const isProxy = allowedNames.length === 0 || allowedNames.includes(subject?.commonName ?? '');
      const user = isProxy ? frontProxyUser(request.headers, frontProxy) : undefined;
      if (user !== undefined) return user;
    }
    if (subject === undefined || !verify(certificate, clientCa, now)) return 'refused';
    return userOfCertificate(subject) ?? 'unnamed';
  };
  return async (request, warn) => {
    const certificate = request.peer?.shown;
    const found = certificate === undefined ? 'unnamed' : byCertificate(request, certificate);
    if (typeof found === 'object') return authenticated(found);
    const token = bearerToken(request, warn);
    if (token !== undefined) {
      const reviewed = await options.review(token, []);
      if (reviewed === 'bad') throw unauthorized();
      return authenticated(reviewed.user);
    }
    if (found === 'refused' || !options.anonymous) throw unauthorized();
    return ANONYMOUS;
  };
}
