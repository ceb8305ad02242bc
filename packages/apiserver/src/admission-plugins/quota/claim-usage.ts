import { compareQuantities, type KubeObject, type Quantity } from '@asterism/machinery';
import { optionalFields, textAt } from '../../kinds/fields/draft-fields.ts';
import { amountsAt } from '../pod-amounts.ts';
import { isRequired } from './is-required.ts';
import { ONE, type UsageRule } from './usage-rule.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const OF_CLASS = '.storageclass.storage.k8s.io/';
const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
const NAMES = [`count/${CLAIMS}`, CLAIMS, STORAGE];

/** Claims by their number and size, in all and of each class. They may grow. */
export const claimUsage: UsageRule = {
  isCharged: ({ operation, subresource }) => operation !== 'DELETE' && subresource === undefined,
  measures: (name) => NAMES.includes(name) || name.endsWith(OF_CLASS + STORAGE) || name.endsWith(OF_CLASS + CLAIMS),

  usageOf(claim) {
    const usage = new Map<string, Quantity>([
      [`count/${CLAIMS}`, ONE],
      [CLAIMS, ONE],
    ]);
    const className = storageClassOf(claim);
    if (className !== '') usage.set(className + OF_CLASS + CLAIMS, ONE);
    const size = sizeOf(claim);
    if (size === undefined) return usage;
    usage.set(STORAGE, size);
    if (className !== '') usage.set(className + OF_CLASS + STORAGE, size);
    return usage;
  },

  isInScope(claim, requirement) {
    if (requirement.scopeName !== 'VolumeAttributesClass') return false;
    return isRequired(textAt(optionalFields(claim, 'spec'), 'volumeAttributesClassName'), requirement);
  },
};

function storageClassOf(claim: KubeObject): string {
  return claim.metadata?.annotations?.[CLASS_ANNOTATION] ?? textAt(optionalFields(claim, 'spec'), 'storageClassName');
}

/** What a claim asks for, or what it was allocated where that is more: an expansion that was taken back may be half done. */
function sizeOf(claim: KubeObject): Quantity | undefined {
  const asked = amountsAt(optionalFields(optionalFields(claim, 'spec'), 'resources'), 'requests').get('storage');
  const allocated = amountsAt(optionalFields(claim, 'status'), 'allocatedResources').get('storage');
  if (asked === undefined || allocated === undefined) return asked;
  return compareQuantities(allocated, asked) > 0 ? allocated : asked;
}
