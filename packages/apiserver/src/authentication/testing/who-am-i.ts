import assert from 'node:assert/strict';
import { type Connection, createClient, createTransport, type Headers } from '@asterism/client';
import { parseJson } from '@asterism/machinery';
import type { TestServer } from '../../testing/index.ts';

const REVIEW = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };

/** Who the server takes a connection for: the name with the groups, or the code of its refusal. */
export async function whoAmI(connection: Connection, headers: Headers = {}): Promise<unknown> {
  await using transport = createTransport(connection);
  const response = await createClient({ transport }).request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(REVIEW),
  });
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece as Buffer);
  const answer = parseJson(Buffer.concat(pieces).toString()) as {
    status: { userInfo: { username: string; groups: string[] } };
  };
  if (response.status !== 201) return response.status;
  return [answer.status.userInfo.username, ...answer.status.userInfo.groups];
}

export function withToken({ connection }: TestServer, token: string): Connection {
  return { ...connection, credential: { kind: 'token', token } };
}

export function nobody({ connection }: TestServer): Connection {
  return { ...connection, credential: { kind: 'none' } };
}

/** Lets a user do what the rules say, everywhere. */
export async function grant(server: TestServer, user: string, rules: object[]): Promise<void> {
  const send = (path: string, object: object) =>
    server.client.request({
      method: 'POST',
      path: `/apis/rbac.authorization.k8s.io/v1/${path}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
  const role = await send('clusterroles', { metadata: { name: 'granted' }, rules });
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'granted' };
  const binding = await send('clusterrolebindings', { metadata: { name: 'granted' }, subjects, roleRef });
  for (const { status, body } of [role, binding]) {
    assert.equal(status, 201);
    body.resume();
  }
}
