import type { ConfigMap } from '@asterism/machinery';
import { MIRROR_LABEL } from '../../examples/config-sync/src/mirror.ts';
import type { Test } from '../../examples/multi-cluster-job/src/test-kind.ts';
import { BUSYBOX_IMAGE } from '../cluster/node-assets.ts';

/** Where the objects of the examples are. */
export const NAMESPACE = 'default';

/** A Test whose Job completes on a real node. */
export function exampleTest(name: string): Test {
  const metadata = { namespace: NAMESPACE, name };
  return { apiVersion: 'job.lailin.xyz/v1', kind: 'Test', metadata, spec: { image: BUSYBOX_IMAGE } };
}

/** A ConfigMap, or the body of a Secret, that is mirrored. */
export function mirrored(name: string, data: Record<string, string>): ConfigMap & { data: Record<string, string> } {
  return { metadata: { namespace: NAMESPACE, name, labels: { [MIRROR_LABEL]: 'true', app: 'example' } }, data };
}
