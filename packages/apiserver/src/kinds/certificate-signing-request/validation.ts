import { type FieldError, fieldNotSupported, fieldRequired, type KubeObject } from '@asterism/machinery';
import { listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { collectFaults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateSignerName } from '../pod-spec/validate-signer-name.ts';
import { pemBlocks } from '../pem/pem-blocks.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_SECONDS = 600;
const STATUSES = ['False', 'True', 'Unknown'];
/** Conditions that are only ever true. */
const TRUE_ONLY = ['Approved', 'Denied', 'Failed'];
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** The faults of a new CertificateSigningRequest. That its signature is right is for those to see who sign it. */
export function validateSigningRequest(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const request = textAt(spec, 'request');
  const usages = textsAt(spec, 'usages');
  const faults: FieldError[] = [];
  if (!isSigningRequest(Buffer.from(request, 'base64').toString('latin1')))
    faults.push(invalidValue('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST'));
  if (usages.length === 0) faults.push(fieldRequired('spec.usages'));
  for (const [index, usage] of usages.entries())
    if (!USAGES.includes(usage)) faults.push(fieldNotSupported(`spec.usages[${index}]`, usage, USAGES));
  const used = new Set<string>();
  for (const [index, usage] of usages.entries()) {
    if (used.has(usage)) faults.push(duplicateValue(`spec.usages[${index}]`, usage));
    used.add(usage);
  }
  faults.push(...validateSigner(textAt(spec, 'signerName')));
  const seconds = numberAt(spec, 'expirationSeconds');
  if (seconds !== undefined && seconds < MIN_SECONDS) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    faults.push(invalidValue('spec.expirationSeconds', seconds, detail));
  }
  return [...faults, ...validateConditions(object)];
}

function isSigningRequest(text: string): boolean {
  const [, ...behind] = text.split('-----BEGIN CERTIFICATE REQUEST-----');
  const first = behind.findIndex((part) => /^\s/.test(part));
  return (
    first >= 0 && behind.some((part, index) => index >= first && part.includes('-----END CERTIFICATE REQUEST-----'))
  );
}

function validateSigner(name: string): FieldError[] {
  if (name === LEGACY_SIGNER)
    return [invalidValue('spec.signerName', name, 'the legacy signerName is not allowed via this API version')];
  return collectFaults((faults) => validateSignerName(name, FieldPath.of('spec').child('signerName'), faults));
}

export function validateConditions(object: KubeObject): FieldError[] {
  const conditions = listAt(optionalFields(object, 'status'), 'conditions');
  const seen = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const at = `status.conditions[${index}]`;
    const type = textAt(condition, 'type');
    const status = textAt(condition, 'status');
    const faults = type === '' ? [fieldRequired(`${at}.type`)] : [];
    if (status === '') faults.push(fieldRequired(`${at}.status`));
    else if (!STATUSES.includes(status)) faults.push(fieldNotSupported(`${at}.status`, status, STATUSES));
    else if (TRUE_ONLY.includes(type) && status !== 'True')
      faults.push(fieldNotSupported(`${at}.status`, status, ['True']));
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : '';
    if (opposite !== '' && seen.has(opposite)) {
      const detail = 'Approved and Denied conditions are mutually exclusive';
      faults.push(invalidValue(`${at}.type`, type, detail));
    }
    if (seen.has(type)) faults.push(duplicateValue(`${at}.type`, type));
    seen.add(type);
    return faults;
  });
}

/** What is wrong with `status.certificate`, of which nothing is shown. */
export function validateIssuedCertificate(object: KubeObject): FieldError[] {
  const certificate = textAt(optionalFields(object, 'status'), 'certificate');
  const fault = certificateFault(Buffer.from(certificate, 'base64').toString('latin1'));
  return fault === undefined ? [] : [invalidValue('status.certificate', '<certificate data>', fault)];
}

function certificateFault(text: string): string | undefined {
  if (text === '') return undefined;
  const blocks = pemBlocks(text);
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, body } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (body.split('\n').some((line) => /^[^:]+: /.test(line))) return 'no PEM block headers are permitted';
    if (body.trim() === '') return 'found CERTIFICATE PEM block containing 0 certificates';
  }
  return undefined;
}
