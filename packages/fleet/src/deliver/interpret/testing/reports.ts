import type { KubeObject } from '@asterism/machinery';
import { aggregateStatus } from '../aggregate-status.ts';
import type { MemberReport } from '../aggregation.ts';

export const NOW = '2026-01-02T03:04:05Z';
export const BEFORE = '2026-01-01T00:00:00Z';

export const report = (
  cluster: string,
  status: Record<string, unknown> | undefined,
  current = true,
  health: MemberReport['health'] = 'Healthy',
): MemberReport => ({ cluster, status, current, health, generation: 1 });
export const template = (apiVersion: string, kind: string, rest: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', generation: 4 },
  ...rest,
});
export const aggregate = (object: KubeObject, ...reports: MemberReport[]) =>
  aggregateStatus({ template: object, reports, now: NOW });

export const listOf = (status: Readonly<Record<string, unknown>> | undefined) =>
  (status?.['conditions'] ?? []) as Record<string, string>[];
