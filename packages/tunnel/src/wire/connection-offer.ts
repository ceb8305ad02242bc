import { TunnelError } from '../tunnel-error.ts';

/**
 * What a connection is for: `short` carries requests that end soon, `long` watches and followed logs (both in frames, kept apart so
 * that neither waits for the other), `upgrade` waits idle for one HTTP/1.1 upgrade and is then a byte pipe.
 */
export type ConnectionKind = 'short' | 'long' | 'upgrade';

/** How an agent describes the connection that it dials. Travels as headers of the HTTP/1.1 upgrade request. */
export interface ConnectionOffer {
  kind: ConnectionKind;
  /** Names one run of an agent. A newer instance of the same name is preferred; the older serves until its connections end. */
  instance: string;
  /** A connection of the same instance, kind and slot replaces the one before it, which may be half open. */
  slot: number;
  /** A byte pipe that the agent keeps only as long as the hub does: nobody may take it for a while. */
  spare?: boolean;
}

/** The token of the `Upgrade` header unless the two ends agree on another. */
export const TUNNEL_PROTOCOL = 'asterism-tunnel';

/** The version of the wire format: both ends must name the same. */
const VERSION = '2';

/** The headers that carry an offer. */
export function offerHeaders(offer: ConnectionOffer): Record<string, string> {
  return {
    'tunnel-version': VERSION,
    'tunnel-kind': offer.kind,
    'tunnel-instance': offer.instance,
    'tunnel-slot': String(offer.slot),
    ...(offer.spare ? { 'tunnel-spare': '1' } : {}),
  };
}

/** The inverse of {@link offerHeaders}. @throws TunnelError `PROTOCOL` that names the header. */
export function parseOffer(headers: Readonly<Record<string, string | string[] | undefined>>): ConnectionOffer {
  const read = (name: string, pattern: RegExp): string => {
    const value = headers[name];
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw new TunnelError('PROTOCOL', `header "${name}" of a tunnel connection must match ${pattern.source}`);
  };
  const version = read('tunnel-version', /^\d{1,4}$/);
  if (version !== VERSION) {
    throw new TunnelError('PROTOCOL', `tunnel version ${version} is not spoken here: this end speaks ${VERSION}`);
  }
  const kind = read('tunnel-kind', /^(short|long|upgrade)$/) as ConnectionKind;
  const instance = read('tunnel-instance', /^[\w.-]{1,64}$/);
  const slot = Number(read('tunnel-slot', /^\d{1,3}$/));
  const spare = kind === 'upgrade' && headers['tunnel-spare'] === '1';
  return { kind, instance, slot, ...(spare ? { spare } : {}) };
}
