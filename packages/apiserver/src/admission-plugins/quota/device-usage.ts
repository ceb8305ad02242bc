import { parseQuantity, type Quantity } from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../../kinds/fields/draft-fields.ts';
import { isCreated, ONE, type UsageRule } from './usage-rule.ts';

const COUNT = 'count/resourceclaims.resource.k8s.io';
const OF_CLASS = '.deviceclass.resource.k8s.io/devices';
/** A request of all devices is charged as the most that one allocation may hold. */
const MOST_DEVICES = 32;

/** Claims of devices by how many they may get of each class (KEP-4381). */
export const deviceUsage: UsageRule = {
  isCharged: isCreated,
  measures: (name) => name === COUNT || name.endsWith(OF_CLASS),
  isInScope: () => false,

  usageOf(claim) {
    const devices = new Map<string, number>();
    for (const request of listAt(optionalFields(optionalFields(claim, 'spec'), 'devices'), 'requests')) {
      for (const [name, count] of mostByClass(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const usage = new Map<string, Quantity>([[COUNT, ONE]]);
    for (const [name, count] of devices) usage.set(name + OF_CLASS, parseQuantity(count));
    return usage;
  },
};

/** Of alternatives one alone is given: each class counts with the most that any of them asks of it. */
function mostByClass(request: Fields): Map<string, number> {
  const exactly = optionalFields(request, 'exactly');
  const most = new Map<string, number>();
  for (const each of exactly === undefined ? listAt(request, 'firstAvailable') : [exactly]) {
    const name = textAt(each, 'deviceClassName');
    const count = each.allocationMode === 'All' ? MOST_DEVICES : (numberAt(each, 'count') ?? 1);
    most.set(name, Math.max(most.get(name) ?? 0, count));
  }
  return most;
}
