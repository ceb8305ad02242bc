import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAggregated, parseResourceList } from '../../packages/client/src/discover/parse-discovery.ts';
import { undeclaredFields, withoutFields } from '../../packages/fleet/src/deliver/member/undeclared-fields.ts';
import { editJsonText } from '../../packages/fleet/src/deliver/override/edit-json-text.ts';
import { subnetsOf } from '../../packages/fleet/src/join/health/find-networks.ts';
import { mergeRanges } from '../../packages/fleet/src/join/health/merge-ranges.ts';
import { compareKubeVersions, isQuantity, parseGoDuration, parseQuantity } from '../../packages/machinery/src/index.ts';
import { parseResponseHead } from '../../packages/tunnel/src/wire/http-head.ts';
import { FILLERS } from '../growth/fillers.ts';
import { measureSlowness } from '../growth/hold-meter.ts';

const LENGTH = 2 * 1024 * 1024;
/** In processor time. Quadratic work on a text of this length takes minutes. */
const MOST_MS = 1_000;

const lines = (line: string): string => line.repeat(LENGTH / line.length);
const tried = (read: () => unknown): void => {
  try {
    read();
  } catch {
    // It may refuse the text. It may not take long.
  }
};

/** What reads a text that a member wrote. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "kubeadm's ClusterConfiguration": subnetsOf,
  'fields that a refusal names': (text) => undeclaredFields(text),
  'fields to leave out': (text) => withoutFields({ spec: {} }, [text, `.spec[${text}]`, `.spec[a="${text}"].b`]),
  'a JSON text with an override': (text) =>
    editJsonText(`{"a":${JSON.stringify(text)}}${' '.repeat(LENGTH)}`, () => ({ value: { a: 1 } })),
  'a range of addresses': (text) => mergeRanges([text, `${text}/8`, `1.2.3.4/${text}`]),
  'a quantity': (text) => (isQuantity(text) ? parseQuantity(text) : undefined),
  'a duration': parseGoDuration,
  'a version': (text) => compareKubeVersions(text, `v1.${text}`),
  'a head from the tunnel': (text) => parseResponseHead([`HTTP/1.1 200 ${text}`, `a: ${text}`, text]),
  'a list of resources': (text) =>
    parseResourceList({
      groupVersion: text,
      resources: [
        { name: text, kind: text },
        { name: `${text}/x`, kind: '' },
      ],
    }),
};

const TEXTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(FILLERS).map(([name, filler]) => [name, filler(LENGTH)])),
  'half a refusal': lines('.a: field not declared in schema'),
  'whole refusals': lines('.spec.a: field not declared in schema\n'),
  'subnets without an end': lines('\n podSubnet: 10.0.0.0/8'),
  'pairs without an end': lines('a="b,'),
};

test('a text of 2 MiB that a member wrote is read in linear time', () => {
  const most = MOST_MS * Math.max(1, measureSlowness());
  const slow: string[] = [];
  for (const [reader, read] of Object.entries(READERS)) {
    for (const [name, text] of Object.entries(TEXTS)) {
      const start = process.threadCpuUsage();
      tried(() => read(text));
      const { user, system } = process.threadCpuUsage(start);
      if ((user + system) / 1000 > most) slow.push(`${reader}, ${name}: ${(user + system) / 1000} ms`);
    }
  }
  assert.deepEqual(slow, []);
});

test('discovery with thousands of resources is read in linear time', () => {
  const most = MOST_MS * Math.max(1, measureSlowness());
  const resources = Array.from({ length: 30_000 }, (_, index) => ({
    name: `r${index >> 1}${index % 2 ? '/status' : ''}`,
    kind: 'R',
  }));
  const scoped = Array.from({ length: 30_000 }, (_, index) => ({ resource: `r${index}` }));
  const start = process.threadCpuUsage();
  assert.equal(parseResourceList({ groupVersion: 'a/v1', resources }).length, 15_000);
  const versions = Array.from({ length: 3 }, (_, index) => ({ version: `v${index}`, resources: scoped }));
  assert.equal(parseAggregated({ kind: 'APIGroupDiscoveryList', items: [{ versions }] }).resources.length, 90_000);
  const { user, system } = process.threadCpuUsage(start);
  assert.ok((user + system) / 1000 < most);
});

test('numbers that are no whole numbers are no address', () => {
  assert.deepEqual(mergeRanges(['1e-1.2.3.4/8']), ['1e-1.2.3.4/8']);
});
