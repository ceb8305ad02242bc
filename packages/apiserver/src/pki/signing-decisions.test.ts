import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CERTIFICATE_SIGNING_REQUESTS, type CertificateSigningRequest } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { createCertificateAuthority } from './certificate-authority.ts';
import { createSigningRequest } from './index.ts';

const RULES = [
  {
    apiGroups: ['certificates.k8s.io'],
    resources: [
      'certificatesigningrequests',
      'certificatesigningrequests/status',
      'certificatesigningrequests/approval',
    ],
    verbs: ['get', 'create', 'patch'],
  },
];
const SIGNER = 'example.com/s';
const signers = (verb: string) => ({ apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: [verb] });

describe('who decides and who signs', () => {
  let server: TestServer<'plain' | 'signer' | 'approver'>;
  let certificate: string;

  before(async () => {
    server = await startTestServer({
      privilegedGroups: ['admins'],
      users: {
        plain: { rules: RULES },
        signer: { rules: [...RULES, signers('sign')] },
        approver: { rules: [...RULES, signers('approve')] },
      },
    });
    const { cert } = await createCertificateAuthority({ commonName: 'issued' });
    certificate = Buffer.from(cert).toString('base64');
  });
  after(() => server.stop());

  async function create(name: string, group = 'devs', signerName = SIGNER): Promise<CertificateSigningRequest> {
    const { csr } = await createSigningRequest({ commonName: 'a', organizations: [group] });
    const spec = { request: Buffer.from(csr).toString('base64'), signerName, usages: ['client auth' as const] };
    return await server.client.resource(CERTIFICATE_SIGNING_REQUESTS).create({ metadata: { name }, spec });
  }

  const condition = (type: string, more: object = {}): object => ({ type, status: 'True', ...more });
  let count = 0;

  type User = 'plain' | 'signer' | 'approver';
  type Step = [user: User, subresource: 'status' | 'approval', status: object];
  const approved: Step = ['approver', 'approval', { conditions: [condition('Approved', { reason: 'r' })] }];
  const issued = (): Step => ['signer', 'status', { certificate }];
  const mayNotAdd = /status\.conditions: Forbidden: updates may not add a condition of type "(Approved|Denied)"/;
  const mayNotModify = /status\.certificate: Forbidden: updates may not modify existing certificate content/;
  const refused: [what: string, before: () => Step[], last: () => Step, code: number, message: RegExp][] = [
    [
      'Approved by status',
      () => [],
      () => ['signer', 'status', { conditions: [condition('Approved')] }],
      422,
      mayNotAdd,
    ],
    ['Denied by status', () => [], () => ['signer', 'status', { conditions: [condition('Denied')] }], 422, mayNotAdd],
    ['a decision taken back', () => [approved], () => ['signer', 'status', { conditions: [] }], 422, /may not remove/],
    ['Failed without sign', () => [], () => ['plain', 'status', { conditions: [condition('Failed')] }], 403, /to sign/],
    ['another condition', () => [], () => ['approver', 'status', { conditions: [condition('Odd')] }], 403, /to sign/],
    ['a certificate', () => [approved], () => ['approver', 'status', { certificate }], 403, /permitted to sign/],
    ['an emptied certificate', () => [issued()], () => ['signer', 'status', { certificate: '' }], 422, mayNotModify],
    ['no certificate any more', () => [issued()], () => ['signer', 'status', { certificate: null }], 422, mayNotModify],
    ['approval without approve', () => [], () => ['signer', 'approval', approved[2]], 403, /permitted to approve/],
  ];
  for (const [what, first, last, code, message] of refused) {
    test(`${what} is refused`, async () => {
      const name = `r${(count += 1)}`;
      await create(name);
      for (const step of first()) await write(name, step);
      await assert.rejects(write(name, last()), { code, message });
    });
  }

  async function write(name: string, [user, subresource, status]: Step): Promise<CertificateSigningRequest> {
    const requests = server.users[user].client.resource(CERTIFICATE_SIGNING_REQUESTS);
    return await requests.patch({ name }, { type: 'merge', body: { status } }, { subresource });
  }

  test('the words of a decision stay as they are in a write to status', async () => {
    await create('words');
    await write('words', approved);
    const { status } = await write('words', [
      'signer',
      'status',
      { conditions: [condition('Approved', { reason: 'other' }), condition('Failed')] },
    ]);
    assert.deepEqual(
      status?.conditions?.map(({ type, reason }) => [type, reason]),
      [
        ['Approved', 'r'],
        ['Failed', undefined],
      ],
    );
  });

  test('an approver does not sign by the subresource approval', async () => {
    await create('by-approval');
    const { status } = await write('by-approval', ['approver', 'approval', { ...approved[2], certificate }]);
    assert.equal(status?.certificate, undefined);
  });

  for (const group of ['system:masters', 'admins']) {
    test(`a request for a client certificate of ${group} is refused`, async () => {
      const message = new RegExp(
        `use of kubernetes\\.io/kube-apiserver-client signer with ${group} group is not allowed`,
      );
      await assert.rejects(create('root', group, 'kubernetes.io/kube-apiserver-client'), { code: 403, message });
    });
  }
});
