import type { KubeObject, ResourceType } from '@asterism/machinery';

/** What crd.yaml defines. */
export interface Test extends KubeObject {
  spec?: { image?: string };
  status?: { phase: 'running' | 'finished' };
}

export const TESTS: ResourceType<Test> = {
  group: 'job.lailin.xyz',
  version: 'v1',
  resource: 'tests',
  kind: 'Test',
  namespaced: true,
};
