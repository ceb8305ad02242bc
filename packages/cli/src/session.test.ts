import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { reply, startConnectProxy } from '@asterism/client/testing';
import { openSession } from './session.ts';
import { startFakeHub } from './testing/fake-hub.ts';

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'NO_PROXY', 'no_proxy'];
const before = VARIABLES.map((name) => process.env[name]);
after(() => VARIABLES.forEach((name, at) => void (process.env[name] = before[at] ?? '')));

test('commands reach the hub by the proxy of the environment, unless NO_PROXY or the kubeconfig says otherwise', async () => {
  for (const name of VARIABLES) delete process.env[name];
  await using hub = await startFakeHub((_, response) => reply(response, { gitVersion: 'v1.36.0' }));
  await using proxy = await startConnectProxy();
  await using other = await startConnectProxy();
  // A name that resolves nowhere: only a proxy leads there.
  const file = await readFile(hub.kubeconfig, 'utf8');
  const named = file
    .replace('https://127.0.0.1:', 'https://hub.invalid:')
    .replace('"server"', '"tls-server-name":"127.0.0.1","server"');
  await writeFile(hub.kubeconfig, named);
  let proxyUrl: string | undefined;
  const ask = async (): Promise<string> => {
    await using session = await openSession({ kubeconfig: hub.kubeconfig });
    proxyUrl = session.connection.proxyUrl;
    return (await session.hub.version()).gitVersion;
  };
  process.env['HTTPS_PROXY'] = `http://127.0.0.1:${proxy.port}`;
  assert.equal(await ask(), 'v1.36.0');
  assert.equal(proxyUrl, process.env['HTTPS_PROXY'], 'for those who make connections of their own');
  const asked = new Set(proxy.asked);
  assert.deepEqual([...asked], [`hub.invalid:${new URL(hub.url).port}`]);
  process.env['NO_PROXY'] = 'hub.invalid';
  await assert.rejects(ask(), { code: /ENOTFOUND|EAI_AGAIN/ });
  await writeFile(hub.kubeconfig, named.replace('"server"', `"proxy-url":"http://127.0.0.1:${other.port}","server"`));
  assert.equal(await ask(), 'v1.36.0');
  assert.deepEqual(new Set(other.asked), asked);
});
