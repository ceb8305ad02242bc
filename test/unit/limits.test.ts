import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIST_LIMITS, READ_BUDGET_BYTES, READ_LIMITS } from '@asterism/client';
import { STATUS_BYTES } from '@asterism/fleet/join';
import { DEFAULT_SEARCH_BYTES, DEFAULT_SEARCH_SHARE } from '@asterism/fleet/search';
import { QUERY_LIMITS } from '@asterism/store';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/limits.md'), 'utf8').replaceAll(/\s+/g, ' ');

const count = (value: number): string => value.toLocaleString('en-US');

function size(bytes: number): string {
  for (const [unit, of] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes % of === 0) return `${count(bytes / of)} ${unit}`;
  }
  return `${bytes} bytes`;
}

const time = (ms: number): string => (Number.isFinite(ms) ? `${ms / 1000} s` : 'none');

const rows: [name: string, text: string][] = [
  ...Object.entries(READ_LIMITS).map(([use, limits]): [string, string] => {
    const { maxBytes, deadlineMs, idleMs, maxDepth, maxItems } = limits;
    const figures = [size(maxBytes), time(deadlineMs), time(idleMs), count(maxDepth), count(maxItems)];
    return [use, `| ${figures.join(' | ')} |`];
  }),
  [
    'pages',
    `at most ${count(LIST_LIMITS.maxPages)} pages, ${count(LIST_LIMITS.maxObjects)} objects and ${size(LIST_LIMITS.maxBytes)}.`,
  ],
  [
    'held',
    `that a watch adds after the list: at most ${count(LIST_LIMITS.maxObjects)} objects and ${size(LIST_LIMITS.maxBytes)} together`,
  ],
  ['budget', `share ${size(READ_BUDGET_BYTES)}.`],
  ['objects of a cluster', `| objects of one cluster | ${count(DEFAULT_SEARCH_SHARE.rows)} |`],
  ['bytes of a cluster', `| bytes of objects of one cluster | ${size(DEFAULT_SEARCH_SHARE.bytes)} |`],
  ['bytes of the store', `| bytes of the whole database | ${size(DEFAULT_SEARCH_BYTES)} |`],
  ['labels', `| conditions on labels | ${count(QUERY_LIMITS.labels)} |`],
  ['fields', `| conditions on fields | ${count(QUERY_LIMITS.fields)} |`],
  ['values', `| values of one condition | ${count(QUERY_LIMITS.values)} |`],
  ['arrays', `in one field path | ${count(QUERY_LIMITS.arraysInPath)} |`],
  ['segments', `| segments of one field path | ${count(QUERY_LIMITS.pathSegments)} |`],
  ['path', `| characters of one field path | ${count(QUERY_LIMITS.pathLength)} |`],
  ['time', `| time that objects are looked into | ${time(QUERY_LIMITS.searchMs)} |`],
  ['status of a Cluster', `| status of a Cluster | ${size(STATUS_BYTES.clusters)} |`],
  ['status of a Work', `| status of a Work | ${size(STATUS_BYTES.works)} |`],
];

for (const [name, text] of rows) {
  test(`docs/reference/limits.md has what the code has: ${name}`, () => {
    const where = name in READ_LIMITS ? page.slice(page.indexOf(`| \`${name}\` |`)).slice(0, 250) : page;
    assert.ok(where.includes(text), `${text} is not in the page`);
  });
}
