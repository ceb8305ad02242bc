import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServedKind } from '@asterism/fleet/join';
import { parseJson } from '@asterism/machinery';
import { formatKinds } from './api-resources.ts';

const cronJobs = (version: string, clusters: string[], lacking: string[]): ServedKind => ({
  apiVersion: `batch/${version}`,
  group: 'batch',
  version,
  resource: 'cronjobs',
  kind: 'CronJob',
  namespaced: true,
  clusters,
  lacking,
});
const kinds = [cronJobs('v1', ['alder', 'birch'], []), cronJobs('v1beta1', ['birch'], ['alder'])];
const lines = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' '));

test('kinds in columns, with who lacks them', () => {
  assert.deepEqual(lines(formatKinds(kinds, undefined)), [
    'NAME APIVERSION NAMESPACED KIND LACKING',
    'cronjobs batch/v1 true CronJob <none>',
    'cronjobs batch/v1beta1 true CronJob alder',
  ]);
});

test('wide: with who has them', () => {
  assert.equal(lines(formatKinds(kinds, 'wide'))[1], 'cronjobs batch/v1 true CronJob <none> alder,birch');
});

test('names, each once', () => assert.equal(formatKinds(kinds, 'name'), 'cronjobs.batch\n'));

test('json: all that is known', () => assert.deepEqual(parseJson(formatKinds(kinds, 'json')), kinds));
