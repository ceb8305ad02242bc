import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { describe, test } from 'node:test';
import { ClientError } from '@asterism/client';
import { AUTHORITY, OTHER_AUTHORITY, SERVER_CERT, SERVER_KEY } from '@asterism/client/testing';
import { certificatePin } from '@asterism/fleet/join';
import { hubIdentity } from './hub-identity.ts';

const credential = { kind: 'none' } as const;

async function serve(cert: string): Promise<AsyncDisposable & { address: string }> {
  const server = createServer({ cert, key: SERVER_KEY }, (socket) => socket.on('error', () => {}));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) };
}

describe('what another machine has to know of a hub', () => {
  test('the pin of that authority of the kubeconfig which the hub shows', async () => {
    await using hub = await serve(`${SERVER_CERT}\n${AUTHORITY}`);
    const caData = `${OTHER_AUTHORITY}\n${AUTHORITY}\n`;
    assert.deepEqual(await hubIdentity({ server: hub.address, caData, credential }), {
      server: hub.address,
      pin: certificatePin(AUTHORITY),
      ca: caData,
      onlyHere: true,
    });
  });

  test('no pin of a hub that does not show its authority', async () => {
    await using hub = await serve(SERVER_CERT);
    assert.equal((await hubIdentity({ server: hub.address, caData: AUTHORITY, credential })).pin, undefined);
  });

  test('no pin where the system vouches for the hub; an address of that name alone is not only here', async () => {
    const { pin, ca, onlyHere } = await hubIdentity({ server: 'https://hub.example.org', credential });
    assert.deepEqual([pin, ca, onlyHere], [undefined, undefined, false]);
  });

  test('a hub that is away is no hub without a pin', async () => {
    await assert.rejects(
      hubIdentity({ server: 'https://127.0.0.1:1', caData: AUTHORITY, credential }),
      (error) => error instanceof ClientError && error.code === 'ECONNREFUSED',
    );
  });
});
