import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { READ_REFUSALS, type Refusal } from '@asterism/client';
import { Counter, type Registry } from 'prom-client';
import { OTHER_CLUSTERS } from './cluster-labels.ts';

/**
 * Counts answers that clients of this process refused to read. The first sources have labels of their own, the others share one.
 * Counting ends when nobody holds the registry any more.
 */
export function countRefusedReads(registry: Registry, sourceLimit: number): void {
  const counter = new Counter({
    name: 'rest_client_reads_refused_total',
    help: 'Answers that had more than is read: by source, by what they were for, and by the limit that they reached.',
    labelNames: ['source', 'use', 'limit'],
    registers: [registry],
  });
  const named = new Set<string>();
  const kept = new WeakRef(counter);
  const count = (message: unknown): void => {
    const living = kept.deref();
    if (!living) return void unsubscribe(READ_REFUSALS, count);
    const { source, use, limit } = message as Refusal;
    if (named.size < sourceLimit) named.add(source);
    living.inc({ source: named.has(source) ? source : OTHER_CLUSTERS, use, limit });
  };
  subscribe(READ_REFUSALS, count);
}
