import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Cluster, Placement, TargetCluster } from '../api/index.ts';
import { schedule } from './schedule.ts';

/**
 * Replays decisions recorded from Karmada's scheduler, so that a policy that is migrated gives the same distribution. The
 * file lives outside the repository: ASTERISM_VECTORS names it.
 */
const file =
  process.env['ASTERISM_VECTORS'] ??
  fileURLToPath(new URL('../../../../../shared/vectors/replica-division.jsonl', import.meta.url));

interface Vector {
  clusters: {
    metadata: { name: string };
    spec: { region?: string };
    status: { resourceSummary: { allocatable: Record<string, string>; allocated: Record<string, string> } };
  }[];
  spec: {
    resource: { apiVersion: string; kind: string; uid: string };
    replicaRequirements: { resourceRequest: Record<string, string> };
    replicas: number;
    clusters?: TargetCluster[];
    placement: Placement;
    rescheduleTriggeredAt?: string;
  };
  status: { lastScheduledTime?: string };
  result?: TargetCluster[];
  err?: string;
}

function clusterOf(
  { metadata, spec, status }: Vector['clusters'][number],
  kind: { apiVersion: string; kind: string },
): Cluster {
  const resources = [{ name: kind.kind.toLowerCase(), kind: kind.kind, namespaced: true }];
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata,
    spec: {
      id: metadata.name,
      syncMode: 'Push',
      connection: { type: 'Direct' },
      ...(spec.region ? { region: spec.region } : {}),
    },
    status: { resources: status.resourceSummary, apis: [{ groupVersion: kind.apiVersion, resources }] },
  };
}

const asText = (targets: readonly TargetCluster[] = []) =>
  targets
    .map(({ name, replicas = 0 }) => `${name}=${replicas}`)
    .toSorted()
    .join(' ');

function decide({ clusters, spec, status }: Vector): string {
  const outcome = schedule({
    template: spec.resource,
    workload: { replicas: spec.replicas, requirements: spec.replicaRequirements.resourceRequest },
    placement: spec.placement,
    clusters: clusters.map((each) => clusterOf(each, spec.resource)),
    previous: spec.clusters ?? [],
    fresh: spec.rescheduleTriggeredAt !== undefined && spec.rescheduleTriggeredAt > (status.lastScheduledTime ?? ''),
  });
  return outcome.unschedulable ? 'refused' : asText(outcome.clusters);
}

test('decides as Karmada does', { skip: existsSync(file) ? false : `${file} is not there` }, (context) => {
  const vectors = readFileSync(file, 'utf8').trim().split('\n');
  const differences = vectors.flatMap((line, index) => {
    const vector = JSON.parse(line) as Vector;
    const wanted = vector.err === undefined ? asText(vector.result) : 'refused';
    const got = decide(vector);
    return got === wanted ? [] : [`line ${index + 1}: wanted ${wanted}, got ${got}`];
  });
  context.diagnostic(`matched ${vectors.length - differences.length} of ${vectors.length}`);
  assert.deepEqual(differences, []);
});
