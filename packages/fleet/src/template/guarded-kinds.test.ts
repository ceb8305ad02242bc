import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { OverridePolicy } from '../api/index.ts';
import { applyOverrides } from '../deliver/override/apply-overrides.ts';
import { isGuardedKind } from './guarded-kinds.ts';
import { cluster } from '../place/testing/build.ts';

const ROWS: [apiVersion: string, kind: string, guarded: boolean][] = [
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', true],
  ['rbac.authorization.k8s.io/v1beta1', 'Role', true],
  ['authorization.openshift.io/v1', 'RoleBinding', true],
  ['v1', 'ResourceQuota', true],
  ['v1', 'LimitRange', true],
  ['networking.k8s.io/v1', 'NetworkPolicy', true],
  ['extensions/v1beta1', 'NetworkPolicy', true],
  ['crd.projectcalico.org/v1', 'NetworkPolicy', true],
  ['cilium.io/v2', 'CiliumNetworkPolicy', true],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', true],
  ['admissionregistration.k8s.io/v1alpha1', 'MutatingAdmissionPolicyBinding', true],
  ['apps/v1', 'Deployment', false],
  ['v1', 'ConfigMap', false],
  ['networking.k8s.io/v1', 'Ingress', false],
];

describe('kinds that guard a namespace', () => {
  const override: OverridePolicy = {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'OverridePolicy',
    metadata: { name: 'mine', namespace: 'demo' },
    spec: { overrideRules: [{ overriders: { labelsOverrider: [{ operator: 'add', value: { changed: 'yes' } }] } }] },
  };
  for (const [apiVersion, kind, guarded] of ROWS) {
    test(`${apiVersion} ${kind}${guarded ? ': no policy of the namespace changes it' : ''}`, async () => {
      assert.equal(isGuardedKind({ apiVersion, kind }), guarded);
      const object: KubeObject = { apiVersion, kind, metadata: { name: 'x', namespace: 'demo' } };
      const own = await applyOverrides(object, cluster('ant'), [override]);
      assert.deepEqual(
        [own.object === object, own.unapplied.map(({ reason }) => reason)],
        guarded ? [true, ['Refused']] : [false, []],
      );
      const { metadata: _, ...rest } = override;
      const clusterWide = { ...rest, kind: 'ClusterOverridePolicy' as const, metadata: { name: 'ours' } };
      assert.deepEqual((await applyOverrides(object, cluster('ant'), [clusterWide])).unapplied, []);
    });
  }
});
