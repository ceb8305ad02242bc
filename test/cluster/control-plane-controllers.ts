/**
 * What kube-controller-manager runs for a hub: a control plane that nothing runs on. No workload controller is among them, so a
 * Deployment there stays a template. Certificates are signed, but approved by the hub alone (no `csrapproving`).
 */
export const HUB_CONTROLLERS: readonly string[] = [
  'bootstrapsigner',
  'clusterrole-aggregation',
  'csrcleaner',
  'csrsigning',
  'garbagecollector',
  'namespace',
  'root-ca-cert-publisher',
  'serviceaccount',
  'serviceaccount-token',
  'tokencleaner',
];

/** What it runs for a member: all that it runs by default, and what bootstrap tokens need. */
export const MEMBER_CONTROLLERS: readonly string[] = ['*', 'bootstrapsigner', 'tokencleaner'];
