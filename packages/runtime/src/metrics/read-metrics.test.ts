import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseReading } from '@asterism/client';
import { Registry } from 'prom-client';
import { createMetrics } from './create-metrics.ts';
import { countRefusedReads } from './read-metrics.ts';

test('refused answers are counted by source, use and limit; many sources share a label', async () => {
  const registry = new Registry();
  countRefusedReads(registry, 1);
  for (const source of ['birch', 'birch', 'oak', 'elm']) {
    refuseReading({ limit: 'bytes', source, use: 'list', excess: 'more than 1 byte' });
  }
  const text = await registry.getSingleMetricAsString('rest_client_reads_refused_total');
  assert.match(text, /\{source="birch",use="list",limit="bytes"\} 2\n/);
  assert.match(text, /\{source="_other",use="list",limit="bytes"\} 2(\n|$)/);
});

test('a manager’s metrics count them', async () => {
  const { registry } = createMetrics({ process: false });
  refuseReading({ limit: 'depth', source: 'ash', use: 'object', excess: 'JSON of more than 64 levels' });
  const text = await registry.getSingleMetricAsString('rest_client_reads_refused_total');
  assert.match(text, /\{source="ash",use="object",limit="depth"\} 1(\n|$)/);
});
