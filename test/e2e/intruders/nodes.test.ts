import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createSigningRequest, type KeyPair } from '@asterism/apiserver';
import { LEASES, NODES, PODS } from '@asterism/machinery';
import { ask, type Question } from './ask.ts';
import { MINE, TREASURE, VAULT } from './furnish.ts';
import { bootstrapToken, clientCertificate, revisionOf } from './identities.ts';
import { openStage, type Stage } from './stage.ts';

type Row = [name: string, question: Question, told: RegExp];

const MERGE = 'application/merge-patch+json';
const own = (body: object): Question => ({ method: 'PATCH', path: '/api/v1/nodes/n1', contentType: MERGE, body });
const POD = { containers: [{ name: 'c', image: 'x' }], nodeName: 'n1' };
const MIRROR = { 'kubernetes.io/config.mirror': 'x' };
const pod = (metadata: object, spec: object): Question => ({
  method: 'POST',
  path: `/api/v1/namespaces/${MINE}/pods`,
  body: { metadata: { name: 'x', ...metadata }, spec },
});
const token = (namespace: string, account: string, spec: object): Question => ({
  method: 'POST',
  path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
});

/** What the node n1 may not, all of it 403 Forbidden. */
const NODE: Row[] = [
  ['read another node', { path: '/api/v1/nodes/n2' }, /cannot read 'n2', only its own Node object/],
  ['list nodes', { path: '/api/v1/nodes' }, /cannot read all nodes/],
  [
    'read a Secret of a pod of another node',
    { path: `/api/v1/namespaces/${VAULT}/secrets/treasure` },
    /no relationship found/,
  ],
  ['read a Secret of no pod', { path: `/api/v1/namespaces/${MINE}/secrets/other` }, /no relationship found/],
  ['list Secrets where it has one', { path: `/api/v1/namespaces/${MINE}/secrets` }, /No Object name found/],
  [
    'list Secrets by two names',
    { path: `/api/v1/namespaces/${MINE}/secrets?fieldSelector=metadata.name%21%3Down` },
    /No Object name found/,
  ],
  ['watch all Secrets', { path: '/api/v1/secrets?watch=1&timeoutSeconds=1' }, /can only read/],
  [
    'write a Secret that it may read',
    { method: 'PUT', path: `/api/v1/namespaces/${MINE}/secrets/own`, body: {} },
    /can only read/,
  ],
  [
    'draw work to itself by a label',
    own({ metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } }),
    /not allowed to modify labels: node-restriction/,
  ],
  [
    'take a role by a label',
    own({ metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } }),
    /not allowed to modify labels: node-role/,
  ],
  ['take its taint away', own({ spec: { taints: [] } }), /not allowed to modify taints/],
  [
    'give itself an owner',
    own({ metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'x' }] } }),
    /not allowed to modify ownerReferences/,
  ],
  [
    'write another node',
    { ...own({ metadata: { labels: { a: 'b' } } }), path: '/api/v1/nodes/n2' },
    /not allowed to modify node "n2"/,
  ],
  [
    'write the status of another node',
    { ...own({ status: { phase: 'x' } }), path: '/api/v1/nodes/n2/status' },
    /not allowed to modify node "n2"/,
  ],
  [
    'make another node',
    { method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'n3' } } },
    /not allowed to modify node "n3"/,
  ],
  ['delete itself', { method: 'DELETE', path: '/api/v1/nodes/n1' }, /cannot delete resource "nodes"/],
  ['start a pod', pod({}, POD), /can only create mirror pods/],
  [
    'start a mirror pod elsewhere',
    pod({ annotations: MIRROR }, { ...POD, nodeName: 'n2' }),
    /spec.nodeName set to itself/,
  ],
  ['start a mirror pod of nobody', pod({ annotations: MIRROR }, POD), /owner reference set to itself/],
  [
    'delete a pod of another node',
    { method: 'DELETE', path: `/api/v1/namespaces/${VAULT}/pods/guard` },
    /spec.nodeName set to itself/,
  ],
  [
    'write the status of a pod of another node',
    {
      method: 'PATCH',
      path: `/api/v1/namespaces/${VAULT}/pods/guard/status`,
      contentType: MERGE,
      body: { status: { phase: 'Failed' } },
    },
    /spec.nodeName set to itself/,
  ],
  [
    'label a pod by its status',
    {
      method: 'PATCH',
      path: `/api/v1/namespaces/${MINE}/pods/app/status`,
      contentType: MERGE,
      body: { metadata: { labels: { a: 'b' } } },
    },
    /cannot update labels through pod status/,
  ],
  [
    'evict a pod of another node',
    {
      method: 'POST',
      path: `/api/v1/namespaces/${VAULT}/pods/guard/eviction`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'guard', namespace: VAULT } },
    },
    /spec.nodeName set to itself/,
  ],
  [
    'run a command in its own pod',
    { method: 'POST', path: `/api/v1/namespaces/${MINE}/pods/app/exec?command=x` },
    /cannot create resource "pods\/exec"/,
  ],
  ['be another kubelet', { path: '/api/v1/nodes/n2/proxy/pods' }, /cannot/],
  ['have a token of an account of another node', token(VAULT, 'keeper', {}), /no relationship found/],
  ['have a token that no pod is behind', token(MINE, 'insider', {}), /not bound to a pod/],
  [
    'have a token of a pod of another node',
    token(MINE, 'insider', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'far', uid: 'UID-OF-FAR' } }),
    /bound to a pod scheduled on a different node/,
  ],
  [
    'write the lease of another node',
    {
      method: 'PATCH',
      path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2',
      contentType: MERGE,
      body: {},
    },
    /same name as the requesting node/,
  ],
  [
    'write a lease elsewhere',
    {
      method: 'POST',
      path: `/apis/coordination.k8s.io/v1/namespaces/${MINE}/leases`,
      body: { metadata: { name: 'n1' } },
    },
    /"kube-node-lease" system namespace/,
  ],
  [
    'write the CSINode of another node',
    {
      method: 'POST',
      path: '/apis/storage.k8s.io/v1/csinodes',
      body: { metadata: { name: 'n2' }, spec: { drivers: [] } },
    },
    /same name as the requesting node/,
  ],
];

describe('a node stays at home', () => {
  let stage: Stage;
  let certificate: KeyPair;
  let uidOfFar: string;

  before(async () => {
    stage = await openStage();
    const { client, ca } = stage.server;
    certificate = await clientCertificate(ca, 'system:node:n1', ['system:nodes']);
    await client
      .resource(NODES)
      .patch({ name: 'n1' }, { type: 'merge', body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } } });
    const volumes = [{ name: 'v', secret: { secretName: 'own' } }];
    const spec = { ...POD, serviceAccountName: 'insider', volumes };
    await client.resource(PODS).create({ metadata: { name: 'app', namespace: MINE }, spec });
    const far = await client
      .resource(PODS)
      .create({ metadata: { name: 'far', namespace: MINE }, spec: { ...spec, nodeName: 'n2' } });
    uidOfFar = far.metadata?.uid ?? '';
    await client.resource(LEASES).create({ metadata: { name: 'n2', namespace: 'kube-node-lease' } });
  });

  after(() => stage?.[Symbol.asyncDispose]());

  test('where it may read itself and what its pods need', async () => {
    for (const path of [
      '/api/v1/nodes/n1',
      `/api/v1/namespaces/${MINE}/secrets/own`,
      `/api/v1/namespaces/${MINE}/pods/app`,
    ]) {
      const { status, text } = await ask(stage.server, { certificate }, { path });
      assert.equal(status, 200, text);
    }
  });

  for (const [name, question, told] of NODE) {
    test(`and may not ${name}`, async () => {
      const body =
        question.body && (JSON.parse(JSON.stringify(question.body).replace('UID-OF-FAR', uidOfFar)) as object);
      const before = await revisionOf(stage.server.client);
      const answer = await ask(stage.server, { certificate }, { ...question, ...(body && { body }) });
      assert.deepEqual([answer.status, answer.reason], [403, 'Forbidden'], answer.text);
      assert.match(answer.message, told);
      assert.doesNotMatch(answer.text, new RegExp(TREASURE));
      assert.equal(await revisionOf(stage.server.client), before, 'something was changed');
    });
  }

  const impostors: [name: string, commonName: string, organizations: string[]][] = [
    ['a node of no group', 'system:node:n1', []],
    ['a member of the group who is no node', 'somebody', ['system:nodes']],
    ['a node without a name', 'system:node:', ['system:nodes']],
    ['another node', 'system:node:n2', ['system:nodes']],
    ['a node that there is not', 'system:node:n9', ['system:nodes']],
  ];
  for (const [name, commonName, organizations] of impostors) {
    test(`and ${name} is not it`, async () => {
      const pair = await clientCertificate(stage.server.ca, commonName, organizations);
      for (const path of [
        '/api/v1/nodes/n1',
        `/api/v1/namespaces/${VAULT}/secrets`,
        `/api/v1/namespaces/${MINE}/secrets/other`,
      ]) {
        const answer = await ask(stage.server, { certificate: pair }, { path });
        assert.deepEqual([answer.status, answer.reason], [403, 'Forbidden'], answer.text);
      }
    });
  }
});

describe('a certificate is not had by asking', () => {
  let stage: Stage;

  before(async () => {
    stage = await openStage();
  });

  after(() => stage?.[Symbol.asyncDispose]());

  const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const CLIENT = 'kubernetes.io/kube-apiserver-client';
  const KUBELET = `${CLIENT}-kubelet`;

  async function request(
    name: string,
    subject: { commonName: string; organizations?: string[] },
    signerName: string,
    spec = {},
  ) {
    const { csr } = await createSigningRequest(subject);
    const usages = ['digital signature', 'client auth'];
    const body = {
      metadata: { name },
      spec: { request: Buffer.from(csr).toString('base64'), signerName, usages, ...spec },
    };
    return { method: 'POST', path: PATH, body };
  }

  const insider = () => clientCertificate(stage.server.ca, 'cert', []);

  test('nobody asks to be an administrator', async () => {
    const question = await request('masters', { commonName: 'cert', organizations: ['system:masters'] }, CLIENT);
    const answer = await ask(stage.server, { certificate: await insider() }, question);
    assert.deepEqual([answer.status, answer.reason], [403, 'Forbidden'], answer.text);
    assert.match(answer.message, /signer with system:masters group is not allowed/);
  });

  test('a node asks for itself alone', async () => {
    const certificate = await clientCertificate(stage.server.ca, 'system:node:n1', ['system:nodes']);
    const question = await request('n2', { commonName: 'system:node:n2', organizations: ['system:nodes'] }, KUBELET);
    const answer = await ask(stage.server, { certificate }, question);
    assert.deepEqual([answer.status, answer.reason], [403, 'Forbidden'], answer.text);
    assert.match(answer.message, /can only create a node CSR with CN=system:node:n1/);
  });

  test('who asks is written down by the server, and decided by others', async () => {
    const certificate = await insider();
    const forged = { username: 'admin', uid: '0', groups: ['system:masters'], extra: { a: ['b'] } };
    const created = await ask(
      stage.server,
      { certificate },
      await request('mine', { commonName: 'cert' }, CLIENT, forged),
    );
    assert.equal(created.status, 201, created.text);
    const { spec } = JSON.parse(created.text) as {
      spec: { username: string; groups: string[]; uid?: string; extra?: Record<string, unknown> };
    };
    assert.deepEqual([spec.username, spec.groups, spec.uid], ['cert', ['system:authenticated'], undefined]);
    assert.deepEqual(Object.keys(spec.extra ?? {}), ['authentication.kubernetes.io/credential-id']);
    const before = await revisionOf(stage.server.client);
    const approved = { type: 'Approved', status: 'True', reason: 'Mine', message: '' };
    const object = { ...(JSON.parse(created.text) as object), status: { certificate: 'eA==', conditions: [approved] } };
    for (const part of ['approval', 'status']) {
      const answer = await ask(
        stage.server,
        { certificate },
        { method: 'PUT', path: `${PATH}/mine/${part}`, body: object },
      );
      assert.deepEqual([answer.status, answer.reason], [403, 'Forbidden'], `${part}: ${answer.text}`);
    }
    // He may update what he asked for: that brings neither an approval nor a certificate nor another name.
    const other = { ...object, spec: { ...spec, ...forged } };
    await ask(stage.server, { certificate }, { method: 'PUT', path: `${PATH}/mine`, body: other });
    const now = await ask(stage.server, { certificate }, { path: `${PATH}/mine` });
    const { status, spec: kept } = JSON.parse(now.text) as { status: object; spec: { username: string } };
    assert.deepEqual([status, kept.username], [{}, 'cert']);
    assert.ok(Number(await revisionOf(stage.server.client)) - Number(before) <= 1);
  });

  test('a machine that introduces itself gets no other certificate than a kubelet’s, by nobody’s approval but others’', async () => {
    const token = await bootstrapToken(stage, 'cccccc', {});
    const question = await request('by-token', { commonName: 'cert' }, CLIENT);
    const answer = await ask(stage.server, { token }, question);
    assert.deepEqual([answer.status, answer.reason], [403, 'Forbidden'], answer.text);
    assert.match(answer.message, /User "system:bootstrap:cccccc" cannot create resource "certificatesigningrequests"/);
  });
});
