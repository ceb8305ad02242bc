type Labels = Readonly<Record<string, string>>;

/** Labels of Kubernetes' own domains that a kubelet sets on its Node. */
const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';

/** The labels that differ and that a node may neither set nor change nor remove on itself, in order. */
export function refusedNodeLabels(labels: Labels, old: Labels): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(old)]);
  return [...keys].filter((key) => labels[key] !== old[key] && isRefused(key)).toSorted();
}

function isRefused(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (isWithin(domain, RESTRICTED_DOMAIN)) return true;
  if (!isWithin(domain, 'kubernetes.io') && !isWithin(domain, 'k8s.io')) return false;
  return !KUBELET_LABELS.has(key) && !KUBELET_DOMAINS.some((each) => isWithin(domain, each));
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
