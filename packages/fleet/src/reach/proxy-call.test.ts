import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, readBody } from '@asterism/client';
import { type Logger, silentLogger } from '@asterism/runtime';
import { destinationProxyPath, memberProxyPath } from '../api/index.ts';
import { RecordingHub } from './testing/recording-hub.ts';

const MEMBER = memberProxyPath('edge-1');
const OTHER = destinationProxyPath('edge-1', 'https://other:443');
const POD = `${MEMBER}/api/v1/namespaces/a/pods/b`;
const NODE = `${MEMBER}/api/v1/nodes/n/proxy`;

/** Method and path, and whether the call lasts. Booleans are read as Kubernetes reads them in a query. */
const CALLS: [method: string, path: string, lasts: boolean][] = [
  ...['true', '1', 'True', 'TRUE', 't', 'T', ''].flatMap((yes): [string, string, boolean][] => [
    ['GET', `${MEMBER}/api/v1/pods?watch=${yes}`, true],
    ['GET', `${POD}/log?follow=${yes}`, true],
  ]),
  ...['false', 'False', 'FALSE', '0'].flatMap((no): [string, string, boolean][] => [
    ['GET', `${MEMBER}/api/v1/pods?watch=${no}`, false],
    ['GET', `${POD}/log?follow=${no}`, false],
  ]),
  ['GET', `${MEMBER}/api/v1/pods`, false],
  ['GET', `${MEMBER}/api/v1/pods?follow=true`, false],
  ['POST', `${MEMBER}/api/v1/namespaces/a/pods?watch=true`, false],
  ['GET', `${MEMBER}/api/v1/watch/pods`, true],
  ['GET', `${MEMBER}/apis/apps/v1/watch/namespaces/a/deployments/d`, true],
  ['GET', `${NODE}/containerLogs/a/b/c?follow=true`, true],
  ['GET', `${NODE}/containerLogs/a/b/c`, false],
  ['GET', `${OTHER}/api/v1/pods?watch=True`, true],
  ['GET', `${OTHER}/api/v1/pods`, false],
];

describe('a call that lasts', () => {
  const told: string[] = [];
  let hub: RecordingHub;
  let ann: Client;

  before(async () => {
    const logger: Logger = { ...silentLogger, info: (_: object, message: string) => void told.push(message) };
    hub = await RecordingHub.start({ logger, authorization: 'AlwaysAllow' });
    ann = hub.server.clientAs({ username: 'ann', groups: [] });
  });
  after(() => hub?.[Symbol.asyncDispose]());

  for (const [method, path, lasts] of CALLS) {
    test(`${method} ${path.replace(/^.*edge-1/, '')}: ${lasts ? 'lasts' : 'ends'}`, async () => {
      hub.sent.length = told.length = 0;
      const { status, body } = await ann.request({ method, path });
      await readBody(body, path);
      assert.equal(status, 200);
      assert.deepEqual([hub.sent.map(({ long }) => long), told.includes('a call to a member began')], [[lasts], lasts]);
    });
  }
});
