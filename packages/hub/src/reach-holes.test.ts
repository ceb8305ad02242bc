import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { untilObject } from '@asterism/apiserver/testing';
import { type Client, createClient, withBasePath } from '@asterism/client';
import {
  API_VERSION,
  clusterNamespace,
  CLUSTERS,
  CREDENTIAL_SECRET,
  memberProxyPath,
  PROXY_GROUP,
} from '@asterism/fleet/api';
import { SECRETS } from '@asterism/machinery';
import { grant } from './testing/grant.ts';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MEMBER_TOKEN = 'what-the-member-gave-to-the-hub';

/** Holes of the systems before this one that stand between a caller, the hub and a member. Others: `reach*.test.ts`, `doors.test.ts`. */
describe('holes that are shut between a caller and a member', () => {
  const seen: IncomingHttpHeaders[] = [];
  let fleet: TestFleet;
  let ca: KeyPair;
  let ann: Client;
  const member = { close: () => {}, url: '' };

  before(async () => {
    ca = await createCertificateAuthority({ commonName: 'member-ca' });
    const { cert, key } = await issueCertificate(ca, {
      commonName: 'member',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
      days: 1,
    });
    // Not an API server: what it is sent, down to the last header, is what counts here.
    const server = createServer({ cert, key }, ({ url, headers }, answer) => {
      if (url !== MAPS) return void answer.writeHead(404).end();
      seen.push(headers);
      answer.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'session=of-the-member' }).end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    member.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    member.close = () => {
      server.close();
      server.closeAllConnections();
    };
    fleet = await TestFleet.start();
    const { client } = fleet.hub;
    await client.resource(CLUSTERS).create({
      apiVersion: API_VERSION,
      kind: 'Cluster',
      metadata: { name: 'edge-1' },
      spec: {
        id: 'edge-1',
        syncMode: 'Push',
        connection: { type: 'Direct', apiEndpoint: member.url, caBundle: ca.cert },
        index: [],
      },
    });
    const secret = { namespace: clusterNamespace('edge-1'), name: CREDENTIAL_SECRET };
    await untilObject(client, SECRETS, secret, (it) => it !== undefined);
    const data = { token: Buffer.from(MEMBER_TOKEN).toString('base64') };
    await client.resource(SECRETS).patch(secret, { type: 'merge', body: { data } });
    const proxy = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] };
    await apply(client, grant('ann', { kind: 'User', name: 'ann' }, proxy));
    const person = await fleet.person('ann', 'team');
    ann = createClient({ transport: withBasePath(person.transport, memberProxyPath('edge-1')) });
    for (const late = AbortSignal.timeout(5_000); (await call(ann, 'GET', MAPS)).status !== 200; ) {
      assert.ok(!late.aborted, `the member is not reached: ${(await call(ann, 'GET', MAPS)).body}`);
    }
  });

  after(async () => {
    member.close();
    await fleet[Symbol.asyncDispose]();
  });

  test('hole 7: no credential of a caller goes to the member, and none of the member’s to the caller', async () => {
    seen.length = 0;
    const headers = {
      cookie: 'session=of-the-caller',
      'x-remote-user': 'root',
      'x-remote-extra-clusternet-token': 'raw',
      'asterism-caller': 'forged',
      'x-kept': 'yes',
    };
    const { transport } = ann;
    const answer = await transport.request({ method: 'GET', path: MAPS, headers });
    answer.body.resume();
    assert.equal(answer.status, 200);
    const [got] = seen;
    assert.ok(got);
    assert.equal(got.authorization, `Bearer ${MEMBER_TOKEN}`, 'the hub’s own');
    assert.equal(got['impersonate-user'], 'ann');
    assert.equal(got['x-kept'], 'yes');
    const claims = Object.keys(got).filter((name) => /^(cookie|x-remote-|asterism-|impersonate-extra-)/.test(name));
    assert.deepEqual(claims, []);
    assert.equal(answer.headers['set-cookie'], undefined);
    assert.ok(!JSON.stringify(answer.headers).includes(MEMBER_TOKEN));
  });

  test('hole 8: a member that its own authority does not vouch for is sent nothing', async () => {
    const setAuthority = async (caBundle: string): Promise<void> => {
      const body = { spec: { connection: { caBundle } } };
      await fleet.hub.client.resource(CLUSTERS).patch({ name: 'edge-1' }, { type: 'merge', body });
    };
    const other = await createCertificateAuthority({ commonName: 'member-ca' });
    await setAuthority(other.cert);
    for (const late = AbortSignal.timeout(5_000); (await call(ann, 'GET', MAPS)).status !== 503; ) {
      assert.ok(!late.aborted, 'the other authority is not noticed');
    }
    seen.length = 0;
    const { status, body } = await call(ann, 'GET', MAPS);
    assert.equal(status, 503);
    assert.match(body, /cluster \\"edge-1\\" cannot be reached/);
    assert.deepEqual(seen, []);
    await setAuthority(ca.cert);
  });

  test('hole 9: a new hub has no secret that others know: no token, and none for tunnels', async () => {
    const secrets = await fleet.hub.client.resource(SECRETS).list({});
    assert.ok(secrets.items.every(({ type }) => type !== 'bootstrap.kubernetes.io/token'));
    const { server, caData } = fleet.hub.adminConnection;
    const nobody = fleet.client({ server, caData, credential: { kind: 'none' } });
    const path = `/apis/${PROXY_GROUP}/v1alpha1/clusters/edge-1/attach`;
    const guess = { 'x-api-tunnel-id': 'edge-1', 'x-api-tunnel-token': 'Cheugy' };
    for (const headers of [guess, { ...guess, authorization: 'Bearer Cheugy' }]) {
      const upgrade = { ...headers, connection: 'Upgrade', upgrade: 'asterism-tunnel' };
      const answer = await nobody.transport.upgrade({ method: 'POST', path, headers: upgrade });
      assert.ok([401, 403].includes(answer.status), String(answer.status));
    }
  });
});
