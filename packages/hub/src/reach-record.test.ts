import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { type Client, createClient, withBasePath } from '@asterism/client';
import { CLUSTERS, memberProxyPath, PROXY_GROUP } from '@asterism/fleet/api';
import { CONFIG_MAPS, parseJson } from '@asterism/machinery';
import { echo } from './testing/echo.ts';
import { grant } from './testing/grant.ts';
import { type Logged, listeningLogger } from './testing/listening-logger.ts';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

/** What is looked at of an audit event. */
interface AuditLine {
  stage: string;
  user: { username: string; groups: string[] };
  objectRef: { name: string; subresource: string };
  responseStatus: { code: number };
  annotations: Record<string, string>;
}

const POLICY = `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [
  {level: RequestResponse, resources: [{group: ${PROXY_GROUP}, resources: [clusters/proxy]}]}]}`;

const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRET = 'a secret that nobody may read in a log';

for (const syncMode of ['Pull', 'Push'] as const) {
  describe(`the record of calls to a member in ${syncMode}`, () => {
    const lines: string[] = [];
    const logged: Logged[] = [];
    let news = Promise.withResolvers<void>();
    let fleet: TestFleet;
    let member: TestServer;
    let ann: Client;

    before(async () => {
      const sink = (some: readonly string[]): Promise<void> => {
        lines.push(...some);
        news.resolve();
        news = Promise.withResolvers();
        return Promise.resolve();
      };
      fleet = await TestFleet.start({ audit: { policy: POLICY, sink }, logger: listeningLogger(logged) });
      member = await fleet.startMember(syncMode, { extensions: [echo()] });
      const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
      await apply(member.client, grant('ann', { kind: 'User', name: 'ann' }, everything));
      const proxy = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] };
      await apply(fleet.hub.client, grant('people', { kind: 'Group', name: 'people' }, proxy));
      const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
      const endpoint = { server: member.url };
      await fleet.join(member, { token, syncMode, ...(syncMode === 'Push' ? { endpoint } : {}) }).ready;
      await fleet.reached('edge-1');
      ann = through(await fleet.person('ann', 'people'));
    });

    after(() => fleet[Symbol.asyncDispose]());

    const through = (client: Client): Client =>
      createClient({ transport: withBasePath(client.transport, memberProxyPath('edge-1')) });

    /** The events that pass, as soon as there are so many. */
    const written = async (count: number, test: (line: AuditLine) => boolean): Promise<AuditLine[]> => {
      for (const late = AbortSignal.timeout(5_000); ; ) {
        const found = lines.map((line) => parseJson(line) as AuditLine).filter(test);
        if (found.length >= count) return found;
        if (late.aborted) throw new Error(`${found.length} of ${count} events: ${lines.join('\n')}`);
        await Promise.race([news.promise, once(late)]);
      }
    };
    const of = (verb: string, resource: string) => (line: AuditLine) =>
      line.annotations[`${PROXY_GROUP}/verb`] === verb && line.annotations[`${PROXY_GROUP}/resource`] === resource;

    test('hole 12: a call is one event: who, where, what, status, bytes, time; no header, no body', async () => {
      const body = { metadata: { name: 'a' }, data: { x: SECRET } };
      const headers = { authorization: 'Bearer not-a-token', 'x-vault-token': SECRET };
      const answer = await call(ann, 'POST', MAPS, { body, headers: { 'x-vault-token': headers['x-vault-token'] } });
      assert.equal(answer.status, 201);
      const [event, ...others] = await written(1, of('create', 'configmaps'));
      assert.ok(event);
      assert.equal(others.length, 0);
      assert.equal(event.stage, 'ResponseComplete');
      assert.equal(event.user.username, 'ann');
      assert.ok(event.user.groups.includes('people'));
      assert.deepEqual([event.objectRef.name, event.objectRef.subresource], ['edge-1', 'proxy']);
      assert.equal(event.responseStatus.code, 201);
      const told = (name: string): string | undefined => event.annotations[`${PROXY_GROUP}/${name}`];
      assert.deepEqual(['cluster', 'api-version', 'namespace', 'name'].map(told), [
        'edge-1',
        'v1',
        'default',
        undefined,
      ]);
      assert.equal(Number(told('bytes-in')), Buffer.byteLength(JSON.stringify(body)));
      assert.equal(Number(told('bytes-out')), Buffer.byteLength(answer.body));
      assert.match(told('duration-ms') ?? '', /^\d+$/);
      const inLog = logged.find(({ line }) => line['verb'] === 'create' && line['status'] === 201);
      assert.equal(inLog?.message, 'proxied a call');
      assert.deepEqual(inLog.line['groups'], event.user.groups);
      assert.ok(!JSON.stringify([lines, logged]).includes(SECRET));
    });

    test('what lasts has an event when it begins, and one when it ends', async () => {
      const events = ann.resource(CONFIG_MAPS).watch({ namespace: 'default' })[Symbol.asyncIterator]();
      await events.next();
      const [began] = await written(1, of('watch', 'configmaps'));
      assert.equal(began?.stage, 'ResponseStarted');
      await events.return?.();
      const [, ended] = await written(2, of('watch', 'configmaps'));
      assert.equal(ended?.stage, 'ResponseComplete');
      assert.ok(Number(ended.annotations[`${PROXY_GROUP}/bytes-out`]) > 0);
    });

    test('so has a connection, with the bytes of both directions', async () => {
      const answer = await ann.transport.upgrade({
        method: 'POST',
        path: '/apis/echo.example/v1/echoes/e/connect',
        headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
      });
      assert.ok('socket' in answer);
      const [began] = await written(1, of('create', 'echoes/connect'));
      assert.deepEqual([began?.stage, began?.responseStatus.code], ['ResponseStarted', 101]);
      answer.socket.resume();
      answer.socket.end('x'.repeat(1_000));
      const [, ended] = await written(2, of('create', 'echoes/connect'));
      assert.ok(ended);
      const bytes = ['bytes-in', 'bytes-out'].map((name) => Number(ended.annotations[`${PROXY_GROUP}/${name}`]));
      assert.deepEqual(bytes, [1_000, 1_000]);
    });

    test('a refused call has one too: by the hub’s RBAC, by the hub itself, by the member', async () => {
      const carl = through(await fleet.person('carl', 'team'));
      assert.equal((await call(carl, 'DELETE', `${MAPS}/a`)).status, 403);
      const [byRbac] = await written(1, (line) => line.user.username === 'carl');
      assert.equal(byRbac?.responseStatus.code, 403);
      assert.equal(byRbac.annotations['authorization.k8s.io/decision'], 'forbid');
      assert.equal(byRbac.annotations[`${PROXY_GROUP}/verb`], 'delete');

      const system = through(await fleet.person('system:kube-scheduler', 'people'));
      assert.equal((await call(system, 'GET', MAPS)).status, 403);
      const [byHub] = await written(1, (line) => line.user.username === 'system:kube-scheduler');
      assert.match(byHub?.annotations[`${PROXY_GROUP}/reason`] ?? '', /is the hub's own/);

      const bob = through(await fleet.person('bob', 'people'));
      assert.equal((await call(bob, 'GET', MAPS)).status, 403);
      const [byMember] = await written(1, (line) => line.user.username === 'bob');
      assert.equal(byMember?.responseStatus.code, 403);
    });

    test('modes: readonly lets reading in, off nothing; the refusal says who can change it', async () => {
      const setMode = async (mode: string, settled: () => Promise<boolean>): Promise<void> => {
        await fleet.hub.client
          .resource(CLUSTERS)
          .patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { reach: { mode } } } });
        for (const late = AbortSignal.timeout(5_000); !(await settled()); )
          assert.ok(!late.aborted, `${mode} is not followed`);
      };
      const write = () => call(ann, 'POST', MAPS, { body: { metadata: { generateName: 'w-' } } });
      const says = /clusters\.asterism\.dev \\"edge-1\\" in the hub can change it/;

      await setMode('readonly', async () => (await write()).status === 403);
      assert.match((await write()).body, says);
      assert.equal((await call(ann, 'GET', MAPS)).status, 200);
      assert.equal((await call(ann, 'GET', '/version')).status, 200);
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: { namespace: 'default' },
      };
      assert.equal(
        (await call(ann, 'POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { body: review })).status,
        201,
      );
      const exec = await ann.transport.upgrade({
        method: 'POST',
        path: '/apis/echo.example/v1/echoes/e/connect',
        headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
      });
      assert.equal(exec.status, 403);

      await setMode('off', async () => (await call(ann, 'GET', '/version')).status === 403);
      assert.match((await call(ann, 'GET', MAPS)).body, says);
      await setMode('impersonate', async () => (await write()).status === 201);
    });
  });
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
