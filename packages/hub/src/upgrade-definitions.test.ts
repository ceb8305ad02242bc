import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@asterism/machinery';
import { type Logger, silentLogger } from '@asterism/runtime';
import { TestHost } from './testing/test-host.ts';

let host: TestHost;
let admin: Client;

beforeEach(async () => {
  host = await TestHost.start();
  admin = host.server.client;
});

afterEach(async () => {
  await host[Symbol.asyncDispose]();
});

describe('definitions of another release', () => {
  const name = 'clusters.asterism.dev';
  const definitions = () => admin.resource(CUSTOM_RESOURCE_DEFINITIONS);
  const annotate = (release: string) => {
    const annotations = { 'asterism.dev/definition-digest': 'other', 'asterism.dev/release': release };
    const body = { metadata: { annotations }, spec: { names: { shortNames: ['changed'] } } };
    return definitions().patch({ name }, { type: 'merge', body });
  };
  const shortNames = async () => (await definitions().get({ name })).spec.names.shortNames;

  test('an older one is upgraded, a newer one stays as it is', async () => {
    await (await host.leading('first')).stop();
    await annotate('0.0.1');
    await (await host.leading('first')).stop();
    assert.deepEqual(await shortNames(), ['cl']);
    await annotate('99.0.0');
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
    await (await host.leading('first', { logger })).stop();
    assert.deepEqual(await shortNames(), ['changed']);
    assert.match(warnings.join('\n'), /clusters\.asterism\.dev is of a newer hub \(99\.0\.0\).*upgrade this hub/);
  });

  test('one that somebody removes is made again, and the log says so', async () => {
    const warnings: string[] = [];
    const warn = (_: object, message: string) => void warnings.push(message);
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    await host.leading('first', { logger });
    const { uid } = (await definitions().get({ name })).metadata ?? {};
    await definitions().delete({ name });
    await until(async () => (await definitions().get({ name })).metadata?.uid !== uid);
    assert.deepEqual(await shortNames(), ['cl']);
    await until(async () => /installed again/.test(warnings.join()));
  });
});
