import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaOfKind } from './builtin-schemas.ts';
import { decodingError } from './decoding-error.ts';

const DEPLOYMENT = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
const POD = schemaOfKind({ group: '', version: 'v1', kind: 'Pod' })!;

const pod = (container: object) => ({ spec: { containers: [container] } });

describe('what Go could not read', () => {
  const rows: [schema: typeof POD, object: unknown, error: string | undefined][] = [
    [
      DEPLOYMENT,
      { metadata: { name: 'a', labels: { b: 'c' } }, spec: { replicas: 1, template: null, unknown: [] } },
      undefined,
    ],
    [
      DEPLOYMENT,
      { spec: { replicas: 'x' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      DEPLOYMENT,
      { spec: { replicas: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      DEPLOYMENT,
      { spec: { replicas: 2 ** 31 } },
      'json: cannot unmarshal number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      DEPLOYMENT,
      { spec: { paused: 'yes' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool',
    ],
    [
      DEPLOYMENT,
      { metadata: { labels: { a: 1 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      DEPLOYMENT,
      { metadata: { labels: [] } },
      'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [
      POD,
      { spec: { containers: {} } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [POD, { spec: 3 }, 'json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec'],
    [POD, [], 'json: cannot unmarshal array into Go value of type v1.Pod'],
    [
      POD,
      pod({ ports: [{ containerPort: 80 }, { containerPort: true }] }),
      'json: cannot unmarshal bool into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
    ],
    [POD, pod({ resources: { limits: { cpu: 1, memory: '1Gi' } } }), undefined],
    [
      POD,
      pod({ resources: { limits: { cpu: 'x' } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [POD, pod({ livenessProbe: { httpGet: { port: 'http' } } }), undefined],
    [
      POD,
      pod({ livenessProbe: { httpGet: { port: false } } }),
      'json: cannot unmarshal bool into Go value of type int32',
    ],
    [POD, { metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } }, undefined],
    [
      POD,
      { metadata: { creationTimestamp: 'now' } },
      'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
    ],
  ];
  for (const [schema, object, error] of rows) {
    test(error ?? JSON.stringify(object), () => assert.equal(decodingError(object, schema), error));
  }
});
