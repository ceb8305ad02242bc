import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { ClientError, connectThroughProxy } from '@asterism/client';
import { JoinError } from '../join-error.ts';
import { certificatePin, isPublicKeyPin } from './public-key-pin.ts';

/** How an agent finds the hub, and how it knows that it is the one. */
export interface HubAddress {
  /** `https://host:port`. */
  server: string;
  /** PEM of the hub's authority, or its pin, `sha256:<hex>`. Nothing is sent to a hub that does not match. */
  ca: string;
  /** A bootstrap token, for as long as there is no credential yet. */
  token?: string | undefined;
  /** The proxy by which it is reached, the first look included: see `Connection` of `@asterism/client`. */
  proxyUrl?: string | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The PEM of the authority that the hub is verified against from then on; `known` is the one of the last time. A pin is looked for in the chain that the server
 * presents; that look sends nothing and takes nothing but certificates, and every real connection afterwards is verified
 * against the one that matched.
 */
export async function resolveHubAuthority(
  { server, ca, proxyUrl }: HubAddress,
  known?: string,
  signal?: AbortSignal,
): Promise<string> {
  if (!isPublicKeyPin(ca)) {
    if (ca.includes('-----BEGIN CERTIFICATE-----')) return ca;
    throw new JoinError('HubNotTrusted', `the hub's CA must be PEM or a pin "sha256:<64 hex digits>"`);
  }
  if (known !== undefined && certificatePin(known) === ca) return known;
  const chain = await presentedChain({ server, proxyUrl }, signal);
  const authorities = chain.filter(isAuthority);
  const match = authorities.find((certificate) => certificatePin(certificate.raw) === ca);
  if (match) return match.toString();
  throw new JoinError(
    'HubNotTrusted',
    authorities.length === 0 ? noAuthority(server, chain) : mismatch(server, ca, chain),
  );
}

/** What a verification can end at: a CA, or a certificate that vouches for itself alone. */
function isAuthority(certificate: X509Certificate): boolean {
  return certificate.ca || certificate.verify(certificate.publicKey);
}

function mismatch(server: string, pin: string, chain: readonly X509Certificate[]): string {
  return `${server} is not the hub that the pin ${pin} names: it presents ${described(chain)}. Check the address and the pin; of an authority that it does not present, the CA itself (PEM) is needed instead`;
}

/** A kube-apiserver need not send its CA along, and often does not. */
function noAuthority(server: string, chain: readonly X509Certificate[]): string {
  return (
    `${server} does not present its CA (it presents ${described(chain)}), so a pin cannot tell whether it is the hub: ` +
    "give the file with the hub's CA (PEM) instead of the pin"
  );
}

function described(chain: readonly X509Certificate[]): string {
  return chain.map(({ raw, subject }) => `${certificatePin(raw)} (${subject.replaceAll('\n', ', ')})`).join(', ');
}

async function presentedChain(
  { server, proxyUrl }: Pick<HubAddress, 'server' | 'proxyUrl'>,
  signal: AbortSignal | undefined,
): Promise<X509Certificate[]> {
  const url = new URL(server);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || 443);
  const dialled = { timeoutMs: CONNECT_TIMEOUT_MS, signal };
  const through = proxyUrl === undefined ? undefined : await connectThroughProxy(proxyUrl, { host, port }, dialled);
  const { promise, resolve, reject } = Promise.withResolvers<X509Certificate[]>();
  const limit = AbortSignal.any([AbortSignal.timeout(CONNECT_TIMEOUT_MS), ...(signal ? [signal] : [])]);
  const socket = connect(
    {
      ...(through ? { socket: through } : { host, port }),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      // The one look at whom we talk to: the pin decides, and no byte is sent here.
      rejectUnauthorized: false,
    },
    () => resolve(chainOf(socket.getPeerCertificate(true))),
  );
  const onAbort = (): void => void socket.destroy(new Error(`no answer within ${CONNECT_TIMEOUT_MS} ms`));
  limit.addEventListener('abort', onAbort, { once: true });
  socket.once('error', (cause: NodeJS.ErrnoException) =>
    reject(
      new ClientError(`cannot reach ${server}: ${cause.message}`, { code: cause.code ?? 'ETIMEDOUT', server, cause }),
    ),
  );
  try {
    return await promise;
  } finally {
    limit.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

function chainOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  for (let at: DetailedPeerCertificate | undefined = leaf; at?.raw && !seen.has(at); at = at.issuerCertificate) {
    seen.add(at);
    chain.push(new X509Certificate(at.raw));
  }
  return chain;
}
