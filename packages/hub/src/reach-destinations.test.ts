import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Client, requestWebSocket, WebSocketConnection } from '@asterism/client';
import {
  API_VERSION,
  clusterNamespace,
  CLUSTERS,
  CREDENTIAL_SECRET,
  destinationProxyPath,
  memberProxyPath,
  PROXY_GROUP,
} from '@asterism/fleet/api';
import { parseJson, SECRETS } from '@asterism/machinery';
import { grant } from './testing/grant.ts';
import { type Logged, listeningLogger } from './testing/listening-logger.ts';
import { type OtherServers, startOtherServers } from './testing/other-servers.ts';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

const POLICY = `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [
  {level: RequestResponse, resources: [{group: ${PROXY_GROUP}, resources: [destinations/proxy]}]}]}`;

describe('other servers behind an agent', () => {
  const audited: string[] = [];
  const logged: Logged[] = [];
  const atAgent: Logged[] = [];
  let fleet: TestFleet;
  let others: OtherServers;
  let ann: Client;

  before(async () => {
    others = await startOtherServers();
    const sink = async (lines: readonly string[]): Promise<void> => void audited.push(...lines);
    fleet = await TestFleet.start({ audit: { policy: POLICY, sink }, logger: listeningLogger(logged) });
    const member = await fleet.startMember('Pull');
    const clusters = ['edge-1', 'edge-2', 'edge-9'];
    const destinations = { apiGroups: [PROXY_GROUP], resources: ['destinations/proxy'], verbs: ['*'] };
    const proxy = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] };
    await apply(fleet.hub.client, [
      ...grant('goers', { kind: 'Group', name: 'goers' }, { ...destinations, resourceNames: clusters }),
      ...grant('people', { kind: 'Group', name: 'people' }, proxy),
    ]);
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const origins = [others.http, others.https, 'http://127.0.0.1:1'];
    const options = { destinations: { origins, caData: others.ca }, logger: listeningLogger(atAgent) };
    await fleet.join(member, { token, ...options }).ready;
    await fleet.reached('edge-1');
    await fleet.hub.client.resource(CLUSTERS).create({
      apiVersion: API_VERSION,
      kind: 'Cluster',
      metadata: { name: 'edge-2' },
      spec: {
        id: 'edge-2',
        syncMode: 'Push',
        connection: { type: 'Direct', apiEndpoint: 'https://127.0.0.1:1' },
        index: [],
      },
    });
    ann = await fleet.person('ann', 'goers');
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await others?.[Symbol.asyncDispose]();
  });

  const path = (origin: string, rest = '/a/b%20c?x=1&x=2'): string => destinationProxyPath('edge-1', origin) + rest;

  test('are reached over HTTP and HTTPS, by any method', async () => {
    for (const origin of [others.http, others.https]) {
      const got = await call(ann, 'GET', path(origin));
      assert.deepEqual(got, { status: 200, body: 'GET /a/b%20c?x=1&x=2 ' });
      const posted = await call(ann, 'POST', path(origin), { body: { large: 'ä'.repeat(200_000) } });
      assert.equal(posted.status, 200);
      assert.equal(posted.body.length, 'POST /a/b%20c?x=1&x=2 {"large":""}'.length + 200_000);
    }
    assert.equal((await call(ann, 'GET', path(others.http, ''))).body, 'GET / ');
    assert.equal((await call(ann, 'GET', path(others.http.toUpperCase(), '/'))).body, 'GET / ');
  });

  test('learn nothing of who calls, and get no credential', async () => {
    others.seen.length = 0;
    const account = { namespace: 'default', name: 'robot' };
    await apply(fleet.hub.client, [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account }]);
    const name = 'system:serviceaccount:default:robot';
    const rule = { apiGroups: [PROXY_GROUP], resources: ['destinations/proxy'], verbs: ['get'] };
    await apply(fleet.hub.client, grant('robot', { kind: 'User', name }, rule));
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [] } };
    const asked = await call(
      fleet.client(fleet.hub.adminConnection),
      'POST',
      '/api/v1/namespaces/default/serviceaccounts/robot/token',
      { body: review },
    );
    const { token } = (parseJson(asked.body) as { status: { token: string } }).status;
    const { server, caData } = fleet.hub.adminConnection;
    const robot = fleet.client({ server, caData, credential: { kind: 'token', token } });
    const headers = { cookie: 'a=b', 'x-remote-user': 'root', 'asterism-caller': 'e30', 'x-kept': 'yes' };
    const { status } = await call(robot, 'GET', path(others.https), { headers });
    assert.equal(status, 200);
    const [got] = others.seen;
    assert.equal(got?.headers['x-kept'], 'yes');
    const text = JSON.stringify(got.headers);
    assert.ok(!text.includes(token.slice(0, 20)) && !text.includes('robot'), text);
    const told = Object.keys(got.headers).filter((each) =>
      /^(authorization|cookie|x-remote|asterism|imperson)/.test(each),
    );
    assert.deepEqual(told, []);
  });

  test('cannot set cookies at the hub, send a caller to another origin, or run script there', async () => {
    others.seen.length = 0;
    const answer = await ann.request({ method: 'GET', path: path(others.http, '/moved') });
    answer.body.resume();
    assert.deepEqual([answer.status, answer.headers['location']], [302, undefined]);
    assert.equal(answer.headers['content-security-policy'], 'sandbox');
    assert.equal(others.seen.length, 1);
    const { headers, body } = await ann.request({ method: 'GET', path: path(others.http, '/') });
    body.resume();
    assert.equal(headers['set-cookie'], undefined);
  });

  test('carry a WebSocket', async () => {
    for (const origin of [others.http, others.https]) {
      const { headers, check } = requestWebSocket(['chat']);
      const answer = await ann.transport.upgrade({ method: 'GET', path: path(origin), headers });
      assert.ok('socket' in answer, String(answer.status));
      assert.equal(check(answer.headers), 'chat');
      const connection = new WebSocketConnection(answer.socket, { role: 'client' });
      connection.send([Buffer.from('hello')]);
      let got = '';
      await connection.run(({ data }) => {
        got += data.toString();
        if (got === 'hello') connection.close();
        return undefined;
      });
      assert.equal(got, 'hello');
    }
  });

  test('that are not listed are refused by the agent, which says and logs so', async () => {
    const { port } = new URL(others.http);
    for (const origin of [
      `http://127.0.0.1:${Number(port) - 1}`,
      `https://127.0.0.1:${port}`,
      `http://localhost:${port}`,
    ]) {
      others.seen.length = 0;
      const { status, body } = await call(ann, 'GET', path(origin, '/x?token=not-for-logs'));
      assert.equal(status, 403);
      const { kind, message } = parseJson(body) as { kind: string; message: string };
      assert.equal(kind, 'Status');
      assert.ok(message.includes(`${origin} is not among the destinations of this agent`), message);
      assert.ok(message.includes(`its administrator lists them (aster agent --allow-destination ${origin})`), message);
      const { headers } = requestWebSocket();
      const upgrade = await ann.transport.upgrade({ method: 'GET', path: path(origin), headers });
      assert.equal(upgrade.status, 403);
      const refusals = atAgent.filter(({ line }) => String(line['reason']).includes(origin));
      assert.deepEqual(
        refusals.map(({ message: told }) => told),
        ['request refused', 'upgrade refused'],
      );
      assert.deepEqual(others.seen, []);
    }
    assert.ok(!JSON.stringify([logged, atAgent]).includes('not-for-logs'));
  });

  test('that do not answer are named', async () => {
    const { status, body } = await call(ann, 'GET', path('http://127.0.0.1:1', '/'));
    assert.equal(status, 502);
    assert.match(
      body,
      /"http:\/\/127\.0\.0\.1:1 cannot be reached: the agent of cluster \\"edge-1\\" got no answer from it/,
    );
  });

  test('are RBAC’s to open: clusters/proxy does not, and destinations/proxy opens no API server', async () => {
    const bob = await fleet.person('bob', 'people');
    const refused = await call(bob, 'GET', path(others.http));
    assert.equal(refused.status, 403);
    assert.match(refused.body, /User \\"bob\\" cannot get resource \\"destinations\/proxy\\"/);
    assert.equal((await call(ann, 'GET', `${memberProxyPath('edge-1')}/version`)).status, 403);
    // What the hub writes to an agent is no path of a member, whoever writes it.
    const { host } = new URL(others.http);
    assert.equal((await call(bob, 'GET', `${memberProxyPath('edge-1')}//http/${host}/`)).status, 400);
    const admin = fleet.client(fleet.hub.adminConnection);
    assert.equal((await call(admin, 'GET', path(others.http, '/'))).body, 'GET / ');
  });

  test('are not there where no agent is, and where the path names none', async () => {
    const secret = { namespace: clusterNamespace('edge-2'), name: CREDENTIAL_SECRET };
    await untilObject(fleet.hub.client, SECRETS, secret, (it) => it !== undefined);
    const data = { token: Buffer.from('of the member').toString('base64') };
    await fleet.hub.client.resource(SECRETS).patch(secret, { type: 'merge', body: { data } });
    const inPush = () => call(ann, 'GET', destinationProxyPath('edge-2', others.http));
    for (const late = AbortSignal.timeout(5_000); (await inPush()).status === 503; ) assert.ok(!late.aborted);
    const direct = await inPush();
    assert.equal(direct.status, 403);
    assert.match(
      direct.body,
      /dials nothing else: destinations are reached through the agent of a cluster in Pull or Dual/,
    );
    const none = await call(ann, 'GET', destinationProxyPath('edge-9', others.http));
    assert.equal(none.status, 404);
    const base = destinationProxyPath('edge-1', others.http).replace(/\/http\/.*/, '');
    for (const rest of ['', '/', '/ftp/127.0.0.1', '/http', '/http/a@b/', '//http/a/']) {
      assert.equal((await call(ann, 'GET', base + rest)).status, 400, rest);
    }
    const admin = fleet.client(fleet.hub.adminConnection);
    for (const rest of ['/other/http/a', '/attach', '']) {
      const url = `/apis/${PROXY_GROUP}/v1alpha1/destinations/edge-1${rest}`;
      assert.ok([404, 405].includes((await call(admin, 'GET', url)).status), rest);
    }
  });

  test('each call is a line: who, where, what; no query', async () => {
    await call(ann, 'GET', path(others.https, '/told?x=hidden'));
    const line = logged.find((each) => each.line['path'] === '/told');
    assert.equal(line?.message, 'proxied a call');
    const { user, member, verb, destination, status } = line.line;
    assert.deepEqual([user, member, verb, destination, status], ['ann', 'edge-1', 'get', others.https, 200]);
    const events = (): string[] => audited.filter((each) => each.includes(`"${PROXY_GROUP}/path":"/told"`));
    for (const late = AbortSignal.timeout(5_000); events().length === 0; ) {
      assert.ok(!late.aborted, audited.join('\n'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [event] = events().map((each) => parseJson(each) as { annotations: Record<string, string> });
    assert.equal(event?.annotations[`${PROXY_GROUP}/destination`], others.https);
    assert.equal(event.annotations[`${PROXY_GROUP}/bytes-out`], String('GET /told?x=hidden '.length));
    assert.ok(!JSON.stringify(event.annotations).includes('hidden'));
  });

  test('modes: readonly lets GET in, off nothing', async () => {
    const setMode = async (mode: string, status: number): Promise<void> => {
      const body = { spec: { reach: { mode } } };
      await fleet.hub.client.resource(CLUSTERS).patch({ name: 'edge-1' }, { type: 'merge', body });
      for (const late = AbortSignal.timeout(5_000); (await call(ann, 'PUT', path(others.http))).status !== status; )
        assert.ok(!late.aborted, `${mode} is not followed`);
    };
    const upgrade = async (): Promise<number> => {
      const { headers } = requestWebSocket();
      const answer = await ann.transport.upgrade({ method: 'GET', path: path(others.http), headers });
      if ('socket' in answer) answer.socket.destroy();
      return answer.status;
    };
    await setMode('readonly', 403);
    assert.equal((await call(ann, 'GET', path(others.http))).status, 200);
    assert.equal(await upgrade(), 403);
    await setMode('off', 403);
    for (const late = AbortSignal.timeout(5_000); (await call(ann, 'GET', path(others.http))).status !== 403; )
      assert.ok(!late.aborted, 'off is not followed');
    await setMode('impersonate', 200);
    assert.equal(await upgrade(), 101);
  });
});
