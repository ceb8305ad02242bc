import { type FieldError, fieldNotSupported, type KubeObject } from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_UPDATE_SECONDS = 10;

export function validateSpec(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const faults: FieldError[] = [];
  const policy = textAt(spec, 'fsGroupPolicy');
  if (!GROUP_POLICIES.includes(policy)) faults.push(fieldNotSupported('spec.fsGroupPolicy', policy, GROUP_POLICIES));
  faults.push(...validateTokens(spec));
  for (const mode of textsAt(spec, 'volumeLifecycleModes')) {
    if (!LIFECYCLE_MODES.includes(mode))
      faults.push(fieldNotSupported('spec.volumeLifecycleModes', mode, LIFECYCLE_MODES));
  }
  const seconds = numberAt(spec, 'nodeAllocatableUpdatePeriodSeconds');
  if (seconds !== undefined && seconds < MIN_UPDATE_SECONDS) {
    const detail = `must be greater than or equal to ${MIN_UPDATE_SECONDS} seconds`;
    faults.push(invalidValue('spec.nodeAllocatableUpdatePeriodSeconds', seconds, detail));
  }
  const inSecrets = spec.serviceAccountTokenInSecrets;
  if (typeof inSecrets === 'boolean' && listAt(spec, 'tokenRequests').length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    faults.push(invalidValue('spec.serviceAccountTokenInSecrets', inSecrets, detail));
  }
  return faults;
}

function validateTokens(spec: Fields): FieldError[] {
  const audiences = new Set<string>();
  return listAt(spec, 'tokenRequests').flatMap((request, index) => {
    const at = `spec.tokenRequests[${index}]`;
    const audience = textAt(request, 'audience');
    if (audiences.has(audience)) return [duplicateValue(`${at}.audience`, audience)];
    audiences.add(audience);
    const seconds = numberAt(request, 'expirationSeconds');
    if (seconds === undefined) return [];
    if (seconds < MIN_TOKEN_SECONDS)
      return [invalidValue(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')];
    if (seconds <= MAX_TOKEN_SECONDS) return [];
    return [invalidValue(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')];
  });
}
