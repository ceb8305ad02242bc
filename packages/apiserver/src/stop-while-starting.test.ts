import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { createClient } from '@asterism/client';
import { isStatusError, NAMESPACES } from '@asterism/machinery';
import { createApiServer } from './api-server.ts';
import { createCertificateAuthority } from './pki/certificate-authority.ts';
import { issueCertificate } from './pki/issue-certificate.ts';
import { createMemoryStorage } from './storage/memory-storage.ts';

const ROOT = { username: 'root', groups: ['system:masters'] };

test('a server that is stopped while it starts does not serve afterwards', async () => {
  const ca = await createCertificateAuthority({ commonName: 'ca' });
  const tls = await issueCertificate(ca, {
    commonName: 'api',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  for (let turns = 0; turns < 10; turns++) {
    const server = createApiServer({ storage: createMemoryStorage(), listen: { host: '127.0.0.1', port: 0 }, tls });
    let started = false;
    const starting = server.start().then(
      () => (started = true),
      (error: unknown) => assert.match(String(error), /stopped while it started/),
    );
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    const isStarted = started;
    await Promise.all([server.stop(), server.stop()]);
    await starting;
    assert.equal(started, isStarted);
    const client = createClient({ transport: server.transport(ROOT) });
    await assert.rejects(client.resource(NAMESPACES).list(), (error) => isStatusError(error, 'ServiceUnavailable'));
  }
});
