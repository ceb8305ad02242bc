import { createPublicKey, verify } from 'node:crypto';
import type { CertificateSigningRequest } from '@asterism/machinery';
import { REGISTRATION_DIGEST_ANNOTATION } from '../../api/index.ts';
import { publicKeyPin } from '../connect/public-key-pin.ts';
import { childrenOf, type DerValue, objectIdentifier, readDer, stringValue, TAG } from './der.ts';

/** What a CertificateSigningRequest asks for, and what the API server says of who asks. */
export interface CertificateRequestFacts {
  name: string;
  /** Set by the API server from the requester's credentials: the proof of which token asks. */
  username: string;
  groups: readonly string[];
  signerName: string;
  usages: readonly string[];
  commonName: string;
  organizations: readonly string[];
  /** What the subject has beside CN and O, and requested extensions such as alternative names. */
  extras: readonly string[];
  publicKeyHash: string;
  digest: string | undefined;
  /** Approved, Denied or Failed already. */
  outcome: 'Approved' | 'Denied' | 'Failed' | undefined;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/**
 * Reads the PKCS#10 request (RFC 2986) inside. Throws where it is malformed, or not signed by the key that it carries:
 * P-256 and SHA-256 alone, which is what agents make.
 */
export function readCertificateRequest(request: CertificateSigningRequest): CertificateRequestFacts {
  const [info, algorithm, signature] = partsOf(readDer(pemContent(request.spec.request)), 3);
  const [version, subject, publicKey, attributes] = partsOf(info, 4);
  if (version.bytes[0] !== 0) throw new Error('not version 1 of PKCS#10');
  if (objectIdentifier(partsOf(algorithm, 1)[0]) !== ECDSA_WITH_SHA256)
    throw new Error('not signed with ECDSA and SHA-256');
  if (signature.tag !== TAG.bitString || signature.bytes[0] !== 0) throw new Error('its signature is malformed');
  const key = createPublicKey({ key: Buffer.from(publicKey.whole), format: 'der', type: 'spki' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('the key is not of the curve P-256');
  if (!verify('sha256', info.whole, key, signature.bytes.subarray(1))) {
    throw new Error('it is not signed by the key that it carries');
  }
  const names = childrenOf(subject).flatMap(childrenOf).map(nameOf);
  const valuesOf = (type: string) => names.filter((name) => name.type === type).map((name) => name.value);
  const { metadata, spec, status } = request;
  return {
    name: metadata?.name ?? '',
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    signerName: spec.signerName,
    usages: spec.usages ?? [],
    commonName: valuesOf(COMMON_NAME).join(','),
    organizations: valuesOf(ORGANIZATION),
    extras: [
      ...names.map((name) => name.type).filter((type) => type !== COMMON_NAME && type !== ORGANIZATION),
      ...childrenOf(attributes).flatMap(attributeNames),
    ],
    publicKeyHash: publicKeyPin(publicKey.whole),
    digest: metadata?.annotations?.[REGISTRATION_DIGEST_ANNOTATION],
    outcome: (['Denied', 'Failed', 'Approved'] as const).find((type) =>
      status?.conditions?.some((condition) => condition.type === type),
    ),
  };
}

function partsOf<N extends 1 | 3 | 4>(value: DerValue, count: N): PartTuple<N> {
  const parts = childrenOf(value);
  if (value.tag !== TAG.sequence || parts.length !== count) throw new Error('it is not a PKCS#10 request');
  return parts as unknown as PartTuple<N>;
}
type PartTuple<N> = N extends 1
  ? [DerValue]
  : N extends 3
    ? [DerValue, DerValue, DerValue]
    : [DerValue, DerValue, DerValue, DerValue];

function nameOf(attribute: DerValue): { type: string; value: string } {
  const [type, value] = childrenOf(attribute);
  if (!type || !value) throw new Error('its subject is malformed');
  return { type: objectIdentifier(type), value: stringValue(value) };
}

/** The extensions that are asked for; an attribute of another kind under its own identifier. */
function attributeNames(attribute: DerValue): string[] {
  const [type, values] = childrenOf(attribute);
  if (!type || !values || type.tag !== TAG.objectIdentifier) throw new Error('its attributes are malformed');
  const name = objectIdentifier(type);
  if (name !== EXTENSION_REQUEST) return [name];
  return childrenOf(values)
    .flatMap(childrenOf)
    .map((extension) => objectIdentifier(childrenOf(extension)[0] ?? extension));
}

function pemContent(base64: string): Uint8Array {
  const pem = Buffer.from(base64, 'base64').toString('latin1');
  const match = /^-----BEGIN CERTIFICATE REQUEST-----([\s\S]+?)-----END CERTIFICATE REQUEST-----\s*$/.exec(pem.trim());
  if (!match) throw new Error('it holds no PEM block CERTIFICATE REQUEST');
  return Buffer.from(match[1]!, 'base64');
}
