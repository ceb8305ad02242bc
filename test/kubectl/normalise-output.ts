/** Lines that Kubernetes has come to print since 1.20, by what a client of any version does not decide: 1.36 decides. */
const SINCE_1_20: readonly { line: RegExp; why: string }[] = [
  { line: /^ *internalTrafficPolicy: Cluster$|^Internal Traffic Policy:/, why: 'a field of Services since 1.21' },
  {
    line: /^ *(ipFamilyPolicy: SingleStack|ipFamilies:|- IPv4)$|^IP Famil(y|ies)/,
    why: 'defaulted since dual stack, 1.21',
  },
  { line: /^ *clusterIPs:$|^ *- (<ip>|None)$/, why: 'with dual stack' },
  { line: /^ *allocateLoadBalancerNodePorts: true$/, why: 'a field of Services since 1.20, on since 1.22' },
  {
    line: /^ *persistentVolumeClaimRetentionPolicy:$|^ *when(Deleted|Scaled): Retain$/,
    why: 'of StatefulSets since 1.27',
  },
  { line: /^ *"?creationTimestamp"?: null,?$/, why: 'of templates, left out since 1.34' },
  { line: /^ *availableReplicas: 0$/, why: 'of StatefulSets, always there since 1.22' },
  { line: /^ *maxSurge: 0$/, why: 'of DaemonSets since 1.22' },
  { line: /^ *lastPhaseTransitionTime: "<time>"$/, why: 'of PersistentVolumes since 1.29' },
];

/** Only pods lack it in 1.20: they have one since 1.33. */
const POD_GENERATION = /(?<=^kind: Pod\n[^]*?)^ *generation: \d+\n/gm;

/** What one server printed, without what no two servers have in common, and without lines that came after 1.20. */
export function normaliseOutput(text: string, server: string): string {
  return (
    text
      .replaceAll(server, '<server>')
      .replaceAll(server.replace('https://', ''), '<server>')
      .replace(POD_GENERATION, '')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, '<time>')
      .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>')
      .replace(/resourceVersion(": "|: "|":")\d+"/g, 'resourceVersion$1<version>"')
      .replace(/Resource Version: +\d+/g, 'Resource Version: <version>')
      .replace(/\b198\.51\.100\.\d+\b/g, '<ip>')
      .replace(/(nodePort"?: |:|NodePort: +\w+ +)3\d{4}\b/g, '$1<port>')
      .replace(/(?<=\s|^)(?:<invalid>|\d+[smh]|\d+ms)(?=\s|$)/gm, '<age>')
      // Only kubectl 1.20 shows them unasked; the differential suite compares them, atomic lists and reset fields known.
      .replace(/^( *)managedFields:\n(?:\1[- ].*\n)+/gm, '')
      .split('\n')
      .filter((line) => !SINCE_1_20.some((known) => known.line.test(line.trimEnd())))
      .map((line) => line.replace(/(?<=\S) {2,}/g, ' ').trimEnd())
      .join('\n')
  );
}
