import {
  type ClusterTrustBundleProjection,
  type PodCertificateProjection,
  type ProjectedVolumeSource,
  type VolumeProjection,
  validateDns1123Subdomain,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateLabelSelector } from '../validation/validate-label-selector.ts';
import { validateSignerName } from './validate-signer-name.ts';
import { validateFileMode, validateUnreservedPath } from '../validation/paths-within.ts';
import { validateDownwardFile, validateKeyToPath } from './volume-sources.ts';

const TEN_MINUTES = 600;
const LONGEST_TOKEN = 2 ** 32;

/** A volume put together from several sources, whose files may not be in each other's way. */
export function validateProjection(
  { defaultMode, sources }: ProjectedVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  validateFileMode(defaultMode, at.child('defaultMode'), faults);
  const taken = new Set<string>();
  const claim = (path: string, told: string): void => {
    if (taken.has(path)) faults.invalid(at, told, 'conflicting duplicate paths');
    taken.add(path);
  };
  for (const [index, source] of (sources ?? []).entries()) {
    const place = at.child('sources').index(index);
    validateKeyedSources(source, place, claim, faults);
    const { downwardAPI, serviceAccountToken: token, clusterTrustBundle, podCertificate } = source;
    for (const file of downwardAPI?.items ?? []) {
      validateDownwardFile(file, place.child('downwardAPI'), faults);
      if (file.path) claim(file.path, file.path);
    }
    if (token) {
      const { expirationSeconds: seconds = 0, path } = token;
      const expiry = place.child('serviceAccountToken').child('expirationSeconds');
      if (seconds < TEN_MINUTES) faults.invalid(expiry, seconds, 'may not specify a duration less than 10 minutes');
      if (seconds > LONGEST_TOKEN) {
        faults.invalid(expiry, seconds, 'may not specify a duration larger than 2^32 seconds');
      }
      if (!path) faults.required(at.child('path'));
      else validateUnreservedPath(path, at.child('path'), faults);
    }
    if (clusterTrustBundle) validateTrustBundle(clusterTrustBundle, place.child('clusterTrustBundle'), claim, faults);
    if (podCertificate) validatePodCertificate(podCertificate, place.child('podCertificate'), claim, faults);
    if (Object.keys(source).length > 1) {
      faults.forbidden(place, 'may not specify more than 1 volume type per source');
    }
  }
}

type Claim = (path: string, told: string) => void;

function validateKeyedSources(source: VolumeProjection, at: FieldPath, claim: Claim, faults: Faults): void {
  for (const key of ['secret', 'configMap'] as const) {
    const keyed = source[key];
    if (!keyed) continue;
    const { name = '', items } = keyed;
    if (name === '') faults.required(at.child(key).child('name'));
    for (const [index, item] of (items ?? []).entries()) {
      validateKeyToPath(item, at.child(key).child('items').index(index), faults);
      if (item.path) claim(item.path, name);
    }
  }
}

function validateTrustBundle(bundle: ClusterTrustBundleProjection, at: FieldPath, claim: Claim, faults: Faults): void {
  const { name, signerName, labelSelector, path } = bundle;
  if (name !== undefined && signerName !== undefined) {
    faults.invalid(at, bundle, 'only one of name and signerName may be used');
  } else if (name !== undefined) {
    if (name === '') faults.required(at.child('name'), 'must be a valid object name');
    for (const fault of validateTrustBundleName(name)) {
      faults.invalid(at.child('name'), name, `not a valid clustertrustbundlename: ${fault}`);
    }
    if (labelSelector) {
      faults.invalid(at.child('labelSelector'), labelSelector, 'labelSelector must be unset if name is specified');
    }
  } else if (signerName !== undefined) {
    if (signerName === '') faults.required(at.child('signerName'), 'must be a valid signer name');
    validateSignerName(signerName, at.child('signerName'), faults);
    validateLabelSelector(labelSelector, at.child('labelSelector'), faults);
  } else faults.required(at, 'either name or signerName must be specified');
  if (path === '') faults.required(at.child('path'));
  validateUnreservedPath(path, at.child('path'), faults);
  claim(path, path);
}

/** Names of bundles of a signer begin with the signer's, its slash written as a colon. */
function validateTrustBundleName(name: string): string[] {
  return validateDns1123Subdomain(name.includes(':') ? name.slice(name.lastIndexOf(':') + 1) : name);
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const LONGEST_CERTIFICATE = 7_862_400;
const LONGEST_OF_KUBERNETES = 86_400;

function validatePodCertificate(source: PodCertificateProjection, at: FieldPath, claim: Claim, faults: Faults): void {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds } = source as Partial<PodCertificateProjection>;
  validateSignerName(signerName, at.child('signerName'), faults);
  if (!KEY_TYPES.includes(keyType)) faults.notSupported(at.child('keyType'), keyType, KEY_TYPES);
  if (seconds !== undefined) {
    const place = at.child('maxExpirationSeconds');
    const longest = signerName.startsWith('kubernetes.io/') ? LONGEST_OF_KUBERNETES : LONGEST_CERTIFICATE;
    if (seconds < 3600) faults.invalid(place, seconds, 'if provided, maxExpirationSeconds must be >= 3600');
    if (seconds > longest) faults.invalid(place, seconds, `if provided, maxExpirationSeconds must be <= ${longest}`);
  }
  let paths = 0;
  for (const key of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    const path = source[key];
    if (!path) continue;
    paths += 1;
    validateUnreservedPath(path, at.child(key), faults);
    claim(path, path);
  }
  if (paths === 0) {
    faults.required(at, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath');
  }
}
