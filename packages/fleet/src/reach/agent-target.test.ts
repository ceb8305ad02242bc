import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { readBody, type Transport, type TransportRequest } from '@asterism/client';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '@asterism/client/testing';
import { AgentTarget } from './agent-target.ts';

describe('where an agent’s calls go', () => {
  const server = createServer({ cert: SERVER_CERT, key: SERVER_KEY }, ({ url }, response) => void response.end(url));
  const atMember: string[] = [];
  const refuse = ({ path }: TransportRequest): Promise<never> => {
    atMember.push(path);
    return Promise.reject(new Error('the member'));
  };
  const close = (): Promise<void> => Promise.resolve();
  const member: Transport = { request: refuse, upgrade: refuse, close, [Symbol.asyncDispose]: close };
  let host: string;

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.close();
    server.closeAllConnections();
  });

  test('to what is listed, by what is listed; every other path is the member’s', async () => {
    await using target = new AgentTarget(member, { origins: [`https://${host}/`], caData: AUTHORITY });
    assert.deepEqual(target.destinations, [`https://${host}`]);
    const { body } = await target.request({ method: 'GET', path: `//https/${host}//x/?y=1` });
    assert.equal((await readBody(body, host)).toString(), '//x/?y=1');
    await assert.rejects(target.request({ method: 'GET', path: `/https/${host}/x` }), /the member/);
    await assert.rejects(target.upgrade({ method: 'GET', path: '/version' }), /the member/);
    assert.deepEqual(atMember.splice(0), [`/https/${host}/x`, '/version']);
  });

  test('nowhere else, even if nobody asked before', async () => {
    await using target = new AgentTarget(member);
    const request = { method: 'GET', path: `//https/${host}/x` };
    await assert.rejects(target.request(request), { code: 'ERR_SERVER_URL' });
    await assert.rejects(target.upgrade(request), { code: 'ERR_SERVER_URL' });
    assert.deepEqual(atMember, []);
  });

  test('to nobody whose certificate the authorities do not vouch for', async () => {
    await using target = new AgentTarget(member, { origins: [`https://${host}`] });
    await assert.rejects(target.request({ method: 'GET', path: `//https/${host}/x` }), /certificate/);
  });

  test('a list with what is no destination is none', () => {
    assert.throws(() => new AgentTarget(member, { origins: ['https://a/b'] }), { code: 'ERR_SERVER_URL' });
  });
});
