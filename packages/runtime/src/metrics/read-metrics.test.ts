import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseReading } from '@asterism/client';
import { Registry } from 'prom-client';
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
