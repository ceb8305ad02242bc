import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import type { LogOptions } from '../machine/container-runtime.ts';
import { readLogQuery } from './log-query.ts';

const none: LogOptions = { follow: false, previous: false, timestamps: false };

const rows: [query: string, expected: LogOptions | [code: number, message: RegExp]][] = [
  ['', none],
  ['follow=true&previous=1&timestamps', { follow: true, previous: true, timestamps: true }],
  ['follow=false&previous=0&timestamps=False', none],
  ['tailLines=0&limitBytes=10', { ...none, tailLines: 0, limitBytes: 10 }],
  ['sinceSeconds=5', { ...none, sinceSeconds: 5 }],
  ['sinceTime=2026-01-02T03:04:05Z', { ...none, sinceTime: '2026-01-02T03:04:05Z' }],
  ['stream=Stderr&insecureSkipTLSVerifyBackend=true', { ...none, stream: 'Stderr' }],
  ['tailLines=x', [400, /parsing "x": invalid syntax/]],
  ['sinceTime=yesterday', [400, /parsing time "yesterday"/]],
  [
    'tailLines=-1',
    [422, /PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0/],
  ],
  ['limitBytes=0', [422, /limitBytes: Invalid value: 0: must be greater than 0/]],
  ['sinceSeconds=0', [422, /sinceSeconds: Invalid value: 0: must be greater than 0/]],
  ['sinceSeconds=1&sinceTime=2026-01-02T03:04:05Z', [422, /at most one of `sinceTime` or `sinceSeconds`/]],
  ['stream=Both', [422, /stream: Unsupported value: "Both"/]],
  ['stream=Stdout&tailLines=1', [422, /mutually exclusive/]],
];

for (const [query, expected] of rows) {
  test(`"${query}"`, () => {
    const read = () => readLogQuery(new URLSearchParams(query), 'web');
    if (!Array.isArray(expected)) assert.deepEqual(read(), expected);
    else {
      const [code, message] = expected;
      assert.throws(read, (error) => isStatusError(error) && error.code === code && message.test(error.message));
    }
  });
}
