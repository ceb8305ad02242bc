import { createPrivateKey, sign, X509Certificate } from 'node:crypto';

/*
 * Names of certificates as bytes. The X.509 library reads a name into text and encodes it again, where a UTF8String can become a
 * PrintableString. Go compares the issuer with the authority's subject byte by byte (`x509.Certificate.RawIssuer`, RFC 5280 4.1.2.4).
 */

interface Element {
  tag: number;
  /** With tag and length. */
  bytes: Buffer;
  content: Buffer;
}

const SEQUENCE = 0x30;
const BIT_STRING = 0x03;
const VERSION = 0xa0;

/** The subject of a certificate (PEM or DER), DER as it is in there. */
export function subjectBytes(certificate: string | Buffer): Buffer {
  return namesOf(new X509Certificate(certificate).raw).subject;
}

/** The issuer of a certificate (PEM or DER), DER as it is in there. */
export function issuerBytes(certificate: string | Buffer): Buffer {
  return namesOf(new X509Certificate(certificate).raw).issuer;
}

/** The same certificate (DER) with another issuer (DER of a name), signed by `key` (PEM). `hash` is that of its signature algorithm. */
export function withIssuer(certificate: Buffer, issuer: Buffer, { key, hash }: { key: string; hash: string }): Buffer {
  const [tbs, algorithm] = elements(elementAt(certificate, 0).content);
  if (tbs === undefined || algorithm === undefined) throw new Error('the certificate is incomplete');
  const { fields, at } = signedFields(tbs);
  fields[at] = { ...fields[at]!, bytes: issuer };
  const signed = encode(
    SEQUENCE,
    fields.map(({ bytes }) => bytes),
  );
  const signature = sign(hash, signed, createPrivateKey(key));
  return encode(SEQUENCE, [signed, algorithm.bytes, encode(BIT_STRING, [Buffer.of(0), signature])]);
}

function namesOf(certificate: Buffer): { issuer: Buffer; subject: Buffer } {
  const [tbs] = elements(elementAt(certificate, 0).content);
  if (tbs === undefined) throw new Error('the certificate is empty');
  const { fields, at } = signedFields(tbs);
  return { issuer: fields[at]!.bytes, subject: fields[at + 2]!.bytes };
}

/** version, serialNumber, signature, issuer, validity, subject, … The version is left out by certificates of version 1. */
function signedFields(tbs: Element): { fields: Element[]; at: number } {
  const fields = elements(tbs.content);
  const at = fields[0]?.tag === VERSION ? 3 : 2;
  if (fields.length < at + 4) throw new Error('the certificate is incomplete');
  return { fields, at };
}

function elements(content: Buffer): Element[] {
  const found: Element[] = [];
  for (let offset = 0; offset < content.length; ) {
    const element = elementAt(content, offset);
    found.push(element);
    offset += element.bytes.length;
  }
  return found;
}

/** The certificates come from OpenSSL, which has already refused what is not DER. */
function elementAt(buffer: Buffer, offset: number): Element {
  const first = buffer[offset + 1] ?? 0;
  const more = first < 0x80 ? 0 : first - 0x80;
  const length = more === 0 ? first : buffer.readUIntBE(offset + 2, more);
  const start = offset + 2 + more;
  if (start + length > buffer.length) throw new Error('the certificate is cut off');
  const content = buffer.subarray(start, start + length);
  return { tag: buffer[offset]!, bytes: buffer.subarray(offset, start + length), content };
}

function encode(tag: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const hex = length.toString(16);
  const size = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 + size.length), size, content]);
}
