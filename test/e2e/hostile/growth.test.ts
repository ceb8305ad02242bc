import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Choices } from '../../differential/choices.ts';
import { casesOf, type GrowthCase, namedCase } from '../../growth/growth-cases.ts';
import { GrowthServer } from '../../growth/growth-server.ts';
import { type Way, waysOf } from '../../growth/growth-ways.ts';
import { GrownSender } from '../../growth/send-grown.ts';
import { type ServedKind, servedKinds } from '../../growth/served-kinds.ts';

/** What once held a hub for seconds. */
const FOUND: readonly (readonly [kind: string, path: string, name: string, way?: Way])[] = [
  ['Pod', 'spec.containers.0.resources.requests', 'a value of digits and a sign'],
  ['Pod', 'spec.containers.0.env.0.valueFrom.fieldRef.fieldPath', 'subscripts'],
  ['Pod', 'spec.imagePullSecrets', 'items that differ'],
  ['Pod', 'spec.hostAliases', 'items that differ'],
  ['Pod', 'spec.containers.0.resources.claims', 'items that differ'],
  ['Pod', 'spec.containers.0.env', 'items that differ'],
  ['Pod', 'spec.topologySpreadConstraints', 'items that differ'],
  ['CertificateSigningRequest', 'metadata.generateName', 'dashes within letters'],
  ['CertificateSigningRequest', 'spec.request', 'PEM heads'],
  ['Secret', 'stringData', 'a value of PEM heads'],
  ['ConfigMap', 'data', 'keys'],
  ['ConfigMap', 'metadata.finalizers', 'items that differ'],
  ['ConfigMap', 'metadata.ownerReferences', 'items that differ'],
  ['Growth', 'spec.exponential', 'letters'],
  ['Growth', 'spec.polynomial', 'letters'],
  ['Growth', 'spec.ruled', 'letters'],
  ['Growth', 'spec.set', 'items that differ'],
  ['Growth', 'spec.parts', 'items that differ'],
  ['ConfigMap', 'binaryData', 'a key of quotes', 'JSON patch'],
  ['Event', 'eventTime', 'quotes', 'merge patch'],
  ['Pod', 'spec.volumes', 'items that differ', 'apply'],
  ['Pod', 'spec.ephemeralContainers', 'items that are alike', 'update'],
  ['Pod', 'spec.topologySpreadConstraints', 'items that differ', 'apply'],
  ['Job', 'status.uncountedTerminatedPods.succeeded.0', 'PEM heads', 'apply'],
  ['StorageClass', 'allowedTopologies', 'items that differ', 'update'],
  ['LimitRange', 'spec.limits.0.max', 'keys'],
  ['Pod', 'spec.containers.0.resources.limits', 'keys', 'update'],
  ['Pod', 'spec.volumes', 'items that are alike', 'update'],
];
const SEED = 24;

test('a field of 3 MiB, in every kind, holds the server for less than 200 ms', async (t) => {
  const server = await GrowthServer.start();
  const kinds = await servedKinds(server);
  await using sender = new GrownSender(server);
  const found = FOUND.map(([kind, path, name, way = 'create']) => ({ ...namedCase(kinds, kind, path, name), way }));
  const faults: string[] = [];
  for (const grown of [...found, ...kinds.map(drawnCase)]) {
    const fault = await sender.fault(grown);
    if (fault !== undefined) faults.push(fault);
  }
  t.diagnostic(sender.summary());
  assert.deepEqual(faults, []);
});

function drawnCase(kind: ServedKind): GrowthCase {
  const choices = new Choices(SEED, `${kind.apiVersion} ${kind.kind}`);
  const grown = choices.pick(choices.pick(casesOf(kind, () => false)));
  return { ...grown, way: choices.pick(waysOf(kind)) };
}
