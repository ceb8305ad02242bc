import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { startTestServer } from '../testing/index.ts';

function listeningLogger() {
  const told: { err?: NodeJS.ErrnoException }[] = [];
  const silent = (): void => {};
  return {
    told,
    logger: { debug: silent, info: silent, warn: silent, error: (fields: object) => void told.push(fields) },
  };
}

describe('a log that cannot be written', () => {
  test('holds no request up, and is counted and told', async () => {
    const { logger, told } = listeningLogger();
    await using server = await startTestServer({
      controllers: false,
      logger,
      audit: {
        policy: { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }, { level: 'None' }] },
        sink: () => Promise.reject(new Error('the sink is dead')),
      },
    });
    const read = async (): Promise<string> =>
      await text((await server.client.request({ method: 'GET', path: '/metrics' })).body);
    let metrics = await read();
    for (let tries = 0; !/error_total\{plugin="sink"\} [1-9]/.test(metrics) && tries < 10_000; tries++)
      metrics = await read();
    assert.match(metrics, /apiserver_audit_error_total\{plugin="sink"\} [1-9]/);
    assert.match(metrics, /apiserver_audit_event_total [1-9]/);
    assert.match(metrics, /apiserver_audit_level_total\{level="Metadata"\} [1-9]/);
    assert.match(metrics, /apiserver_audit_requests_rejected_total 0/);
    assert.equal(told.length, 1, 'it is told once a minute');
    await server.stop();
    assert.equal(told.length, 2, 'what was not told is told at the end');
  });

  test('a full disk is no different', { skip: !existsSync('/dev/full') && 'there is no /dev/full here' }, async () => {
    const { logger, told } = listeningLogger();
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
    const given = await startTestServer({ controllers: false, logger, audit: { policy, log: { path: '/dev/full' } } });
    await given.client.version();
    await given.stop();
    assert.equal(told[0]?.err?.code, 'ENOSPC');
  });

  test('a stop does not wait for a sink that never answers', async () => {
    const given = await startTestServer({
      controllers: false,
      audit: {
        policy: { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] },
        sink: () => new Promise(() => {}),
      },
    });
    await given.client.version();
    await given.stop();
  });
});

test('a server whose policy is not valid does not start, and says what is wrong', async () => {
  const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: All\n- levels: None\n';
  await assert.rejects(startTestServer({ audit: { policy, sink: () => {} } }), {
    name: 'AuditError',
    code: 'AUDIT_POLICY',
    message: 'the audit policy is not valid: unknown field "rules[1].levels"',
  });
  await assert.rejects(startTestServer({ audit: { policy } }), TypeError);
});
