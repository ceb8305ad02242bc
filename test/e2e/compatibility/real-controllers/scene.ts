import type { Client } from '@asterism/client';
import { isConditionTrue, type Pod } from '@asterism/machinery';
import type { Kubectl } from '../../../cluster/kubectl.ts';

export const NODES = ['node-a', 'node-b'];

export interface Scene {
  client: Client;
  /** kubectl 1.20 and 1.36. */
  kubectls: readonly Kubectl[];
  /** Of its own, ready for pods. */
  namespace: string;
}

export function template(app: string, image: string, restartPolicy: 'Always' | 'Never' = 'Always') {
  const spec = { containers: [{ name: 'main', image }], restartPolicy, terminationGracePeriodSeconds: 0 };
  return { metadata: { labels: { app } }, spec };
}

export function workload(app: string, image = `registry.example/${app}:1`) {
  return { selector: { matchLabels: { app } }, template: template(app, image) };
}

const isReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

export function areReady(count: number, image?: string): (pods: readonly Pod[]) => boolean {
  return (pods) =>
    pods.length === count &&
    pods.every((pod) => isReady(pod) && (image === undefined || pod.spec?.containers[0]?.image === image));
}
