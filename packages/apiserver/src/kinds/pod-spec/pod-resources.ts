import {
  addQuantities,
  compareQuantities,
  type Container,
  formatQuantity,
  type PodSpec,
  parseQuantity,
  type Quantity,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateResources, type ResourceList } from './validate-resources.ts';
import { validatePodResourceName, isHugePages } from './resource-names.ts';

type Kind = 'requests' | 'limits';

/**
 * What the containers of a pod ask for together, as `AggregateContainerRequests`: the sum of those that run side by side, or
 * what an init container takes while it runs with the sidecars before it, where that is more.
 */
export function aggregateResources(spec: PodSpec, kind: Kind): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  const add = (to: Map<string, Quantity>, list: ResourceList | undefined): void => {
    for (const [name, text] of Object.entries(list ?? {})) {
      const quantity = parseQuantity(text);
      const known = to.get(name);
      to.set(name, known ? addQuantities(known, quantity) : quantity);
    }
  };
  const raise = (to: Map<string, Quantity>, list: Map<string, Quantity>): void => {
    for (const [name, quantity] of list) {
      const known = to.get(name);
      if (!known || compareQuantities(quantity, known) > 0) to.set(name, quantity);
    }
  };
  for (const { resources } of spec.containers ?? []) add(total, resources?.[kind]);
  const sidecars = new Map<string, Quantity>();
  const starting = new Map<string, Quantity>();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    if (restartPolicy === 'Always') {
      add(total, resources?.[kind]);
      add(sidecars, resources?.[kind]);
      raise(starting, sidecars);
      continue;
    }
    const own = new Map<string, Quantity>();
    add(own, resources?.[kind]);
    for (const [name, quantity] of sidecars) {
      const known = own.get(name);
      own.set(name, known ? addQuantities(known, quantity) : quantity);
    }
    raise(starting, own);
  }
  raise(total, starting);
  return total;
}

/** `validatePodResources`: what a pod asks for as a whole, and whether its containers keep to it. */
export function validatePodResources(
  spec: PodSpec,
  claimNames: ReadonlySet<string>,
  at: FieldPath,
  faults: Faults,
): void {
  const { resources } = spec;
  if (!resources) return;
  const place = at.child('resources');
  if (spec.os?.name === 'windows') return faults.forbidden(place, 'may not be set for a windows pod');
  if (resources.claims) {
    faults.forbidden(place.child('claims'), 'claims may not be set for Resources at pod-level');
  }
  validateResources(resources, place, { validateName: validatePodResourceName, claimNames }, faults);
  validateAgainst(
    resources.requests,
    aggregateResources(spec, 'requests'),
    place.child('requests'),
    faults,
    'requests',
  );
  const hugePages = [...aggregateResources(spec, 'limits')].filter(([name]) => isHugePages(name));
  validateAgainst(resources.limits, new Map(hugePages), place.child('limits'), faults, 'limits');
  for (const [index, container] of (spec.containers ?? []).entries()) {
    validateLimits(container, resources.limits, place.child('containers').index(index), faults);
  }
}

function validateAgainst(
  list: ResourceList | undefined,
  aggregate: ReadonlyMap<string, Quantity>,
  at: FieldPath,
  faults: Faults,
  kind: Kind,
): void {
  for (const [name, quantity] of aggregate) {
    const own = list?.[name];
    if (own === undefined || compareQuantities(quantity, parseQuantity(own)) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container ${kind} of ${formatQuantity(quantity)}`;
    faults.invalid(at.key(name), String(own), detail);
  }
}

function validateLimits(
  { resources }: Container,
  limits: ResourceList | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  for (const [name, limit] of Object.entries(resources?.limits ?? {})) {
    const most = limits?.[name];
    if (most === undefined || compareQuantities(parseQuantity(limit), parseQuantity(most)) <= 0) continue;
    const detail = `must be less than or equal to pod limits of ${most}`;
    faults.invalid(at.key(name).child('limits'), String(limit), detail);
  }
}
