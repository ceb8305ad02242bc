import { X509Certificate } from 'node:crypto';
import { type ConfigMap, parseJson } from '@asterism/machinery';

/** What a kube-apiserver tells servers behind it about proving who callers are. */
export interface AuthenticationConfig {
  /** Authorities of certificates that name users. */
  clientCa: readonly X509Certificate[];
  /** Undefined where the host has no front proxy: nobody may speak for others then. */
  frontProxy: FrontProxyConfig | undefined;
}

/** Who may speak for others, and by which headers. Names are in lower case. */
export interface FrontProxyConfig {
  ca: readonly X509Certificate[];
  /** Common names of the proxy's certificate; empty: whichever. */
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  /** Empty for servers that send none: what then comes by such a name comes from the caller himself. */
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraPrefixes: readonly string[];
}

/**
 * Reads `kube-system/extension-apiserver-authentication`, as kube-apiserver writes it. Throws where a value is not what it
 * should be: a part of it must not be taken for the whole.
 */
export function parseAuthenticationConfig({ data = {} }: ConfigMap): AuthenticationConfig {
  const proxyCa = certificates(data, 'requestheader-client-ca-file');
  return {
    clientCa: certificates(data, 'client-ca-file'),
    frontProxy:
      proxyCa.length === 0
        ? undefined
        : {
            ca: proxyCa,
            allowedNames: strings(data, 'requestheader-allowed-names'),
            usernameHeaders: headers(data, 'requestheader-username-headers'),
            uidHeaders: headers(data, 'requestheader-uid-headers'),
            groupHeaders: headers(data, 'requestheader-group-headers'),
            extraPrefixes: headers(data, 'requestheader-extra-headers-prefix'),
          },
  };
}

/** PEM of all authorities in it, each once. */
export function authoritiesOf({ clientCa, frontProxy }: AuthenticationConfig): string {
  return [...new Set([...clientCa, ...(frontProxy?.ca ?? [])].map((certificate) => certificate.toString()))].join('');
}

type Data = Readonly<Record<string, string>>;

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificates(data: Data, key: string): X509Certificate[] {
  const text = data[key] ?? '';
  if (text.trim() === '') return [];
  const blocks = text.match(PEM);
  if (blocks === null) throw new TypeError(`${key} holds no PEM certificate`);
  return blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new TypeError(`${key} holds a certificate that cannot be read`, { cause: error });
    }
  });
}

function strings(data: Data, key: string): string[] {
  const text = data[key] ?? '';
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new TypeError(`${key} is not JSON`, { cause: error });
  }
  if (!isStrings(value)) throw new TypeError(`${key} is not a list of strings`);
  return value;
}

function headers(data: Data, key: string): string[] {
  const names = strings(data, key).map((name) => name.trim().toLowerCase());
  if (names.includes('')) throw new TypeError(`${key} holds an empty header name`);
  return names;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
