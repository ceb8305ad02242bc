import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterAffinity } from '../api/index.ts';
import { affinityTest, matchesClusterAffinity } from './cluster-affinity.ts';
import { cluster } from './testing/build.ts';

const field = (
  key: 'region' | 'zone' | 'provider',
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist',
  values?: string[],
) => ({
  fieldSelector: { matchExpressions: [{ key, operator, ...(values ? { values } : {}) }] },
});

describe('cluster affinity', () => {
  const subject = cluster('ant', { labels: { tier: 'gold' }, region: 'eu', zones: ['eu-1', 'eu-2'] });
  const rows: { name: string; affinity: ClusterAffinity | undefined; why: RegExp | undefined }[] = [
    { name: 'absent', affinity: undefined, why: undefined },
    { name: 'empty', affinity: {}, why: undefined },
    { name: 'named', affinity: { clusterNames: ['bee', 'ant'] }, why: undefined },
    { name: 'not named', affinity: { clusterNames: ['bee'] }, why: /not one of the clusters named: bee/ },
    { name: 'no names is any', affinity: { clusterNames: [] }, why: undefined },
    { name: 'excluded though named', affinity: { clusterNames: ['ant'], exclude: ['ant'] }, why: /excluded by name/ },
    { name: 'labels match', affinity: { labelSelector: { matchLabels: { tier: 'gold' } } }, why: undefined },
    { name: 'another value', affinity: { labelSelector: { matchLabels: { tier: 'iron' } } }, why: /tier=iron.*"gold"/ },
    {
      name: 'no such label',
      affinity: { labelSelector: { matchLabels: { rack: '1' } } },
      why: /rack=1.*no such label/,
    },
    {
      name: 'an unreadable selector',
      affinity: { labelSelector: { matchLabels: { 'a b': '' } } },
      why: /cannot be read/,
    },
    { name: 'region in', affinity: field('region', 'In', ['eu', 'us']), why: undefined },
    {
      name: 'region not in',
      affinity: field('region', 'NotIn', ['eu']),
      why: /region NotIn eu does not hold: its region is eu/,
    },
    { name: 'provider not set', affinity: field('provider', 'Exists'), why: /its provider is not set/ },
    { name: 'provider absent as asked', affinity: field('provider', 'DoesNotExist'), why: undefined },
    { name: 'all zones in', affinity: field('zone', 'In', ['eu-1', 'eu-2', 'eu-3']), why: undefined },
    { name: 'one zone outside', affinity: field('zone', 'In', ['eu-1']), why: /its zone is eu-1, eu-2/ },
    { name: 'no zone among the excluded', affinity: field('zone', 'NotIn', ['us-1']), why: undefined },
  ];
  for (const { name, affinity, why } of rows) {
    test(name, () => {
      const answer = affinityTest(affinity)(subject);
      if (why) assert.match(answer ?? '', why);
      else assert.equal(answer, undefined);
      assert.equal(matchesClusterAffinity(affinity, subject), why === undefined);
    });
  }
});
