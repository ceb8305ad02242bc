import type { PeerCertificate } from 'node:tls';
import { isUnknownAuthority } from '@asterism/client';

interface NodeFault extends Error {
  code?: unknown;
  address?: string;
  port?: number;
  hostname?: string;
  cert?: PeerCertificate;
  host?: string;
}

const DIALS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

/** Why nothing came of a call, in the words of Go's `net/http`, as who reads a Status of Kubernetes knows them. */
export function describeTransportFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Of several addresses of a name the first that was tried tells.
  if (error instanceof AggregateError && error.errors.length > 0) return describeTransportFault(error.errors[0]);
  const { address = '', port, hostname = '', message } = error as NodeFault;
  const given = (error as NodeFault).code;
  const code = typeof given === 'string' ? given : '';
  if (isUnknownAuthority(code)) return untrusted('certificate signed by unknown authority');
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return untrusted('certificate has expired or is not yet valid');
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return untrusted(describeNames(error as NodeFault));
  const dial = DIALS[code];
  if (dial !== undefined)
    return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: ${dial}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  if (code === 'ECONNRESET') return message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer';
  if (code.startsWith('HPE_')) return `net/http: HTTP/1.x transport connection broken: ${message}`;
  if (code.startsWith('ERR_SSL_WRONG_VERSION') || code.startsWith('ERR_SSL_PACKET_LENGTH')) {
    return 'http: server gave HTTP response to HTTPS client';
  }
  return message;
}

function untrusted(why: string): string {
  return `tls: failed to verify certificate: x509: ${why}`;
}

/** `DNS:a.example.com, IP Address:10.0.0.1` of a certificate, and the name that was not among them. */
function describeNames({ cert, host = '' }: NodeFault): string {
  const names = (cert?.subjectaltname ?? '').split(', ').map((each) => each.split(':'));
  const isAddress = /^[\d.]+$|:/.test(host);
  const valid = names.filter(([type]) => (type === 'IP Address') === isAddress).map(([, ...name]) => name.join(':'));
  if (isAddress && valid.length === 0) {
    return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  }
  if (valid.length === 0) return `certificate is not valid for any names, but wanted to match ${host}`;
  return `certificate is valid for ${valid.join(', ')}, not ${host}`;
}
