import { milliValue, type Container, parseQuantity, type Pod, quantityToNumber } from '@asterism/machinery';

/** Where a pod runs, as its own programs may ask. */
export interface PodPlace {
  podIP: string;
  hostIP: string;
  /** Of its node: what a container may use that has no limit. */
  allocatable: Readonly<Record<string, string | number>>;
}

/** The value of a `fieldRef`; undefined for what there is not. */
export function podField(
  pod: Pod,
  path: string,
  { podIP, hostIP }: Pick<PodPlace, 'podIP' | 'hostIP'>,
): string | undefined {
  const { metadata = {}, spec } = pod;
  const one = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (one) return (one[1] === 'labels' ? metadata.labels : metadata.annotations)?.[one[2] ?? ''] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return lines(metadata.labels);
    case 'metadata.annotations':
      return lines(metadata.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return hostIP;
    case 'status.podIP':
    case 'status.podIPs':
      return podIP;
    default:
      return undefined;
  }
}

/** As a downward volume writes a map: `key="value"` by key. */
function lines(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}

export interface ResourceSelector {
  containerName?: string;
  divisor?: string | number;
  resource: string;
}

/** The value of a `resourceFieldRef`, in whole divisors, rounded up; a limit that is not set is what the node has. */
export function resourceField(container: Container, selector: ResourceSelector, place: PodPlace): string | undefined {
  const [kind = '', name = ''] = selector.resource.split(/\.(.*)/s);
  if (kind !== 'limits' && kind !== 'requests') return undefined;
  const own = container.resources?.[kind]?.[name];
  const value =
    own ?? (kind === 'limits' && (name === 'cpu' || name === 'memory') ? place.allocatable[name] : undefined);
  const divisor = String(selector.divisor ?? '0') === '0' ? '1' : String(selector.divisor);
  const of = (quantity: string | number): number =>
    name === 'cpu' ? milliValue(parseQuantity(quantity)) : quantityToNumber(parseQuantity(quantity));
  return String(Math.ceil(of(value ?? '0') / of(divisor)));
}
