import { parseQuantity } from '@asterism/machinery';
import { listAt, optionalFields } from '../../kinds/fields/draft-fields.ts';
import { ONE, type UsageRule } from './usage-rule.ts';

const NAMES = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

/** Services by what they take of nodes and of whoever sells load balancers. Their type may change. */
export const serviceUsage: UsageRule = {
  isCharged: ({ operation, subresource }) => operation !== 'DELETE' && subresource === undefined,
  measures: (name) => NAMES.includes(name),
  isInScope: () => false,

  usageOf(service) {
    const spec = optionalFields(service, 'spec') ?? {};
    const ports = listAt(spec, 'ports');
    const balanced = spec.type === 'LoadBalancer';
    const chosen = balanced && spec.allocateLoadBalancerNodePorts === false;
    const taken = chosen ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
    const nodePorts = balanced || spec.type === 'NodePort' ? taken : 0;
    return new Map([
      ['count/services', ONE],
      ['services', ONE],
      ['services.nodeports', parseQuantity(nodePorts)],
      ['services.loadbalancers', parseQuantity(balanced ? 1 : 0)],
    ]);
  },
};
