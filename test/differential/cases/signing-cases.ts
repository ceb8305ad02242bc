import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { ask, clusterBinding, RBAC, role, rule, untilAllowed, userSubject } from './as-user.ts';
import { caseName } from './requests.ts';

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
/** For CN=alice, O=devs, and a key that nobody has any more. */
const ALICE = `-----BEGIN CERTIFICATE REQUEST-----
MIHaMIGBAgEAMB8xDTALBgNVBAoMBGRldnMxDjAMBgNVBAMMBWFsaWNlMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEA3w+gNXSrZmgJlHPIQHxxnTKbc1qXnyv5rGT
GQMfVQ2T09XUN6610WoUlJ0ktyCdwJT7SCwiuNTF9QY0luogaqAAMAoGCCqGSM49
BAMCA0gAMEUCIQDLf7g/a70RWH3T7ST/PF/zQJ1irEXMrJ3qVCduKPvDbwIgQuz7
inC9CbPoyPHwdUcnePPsqbLBdsIVNMesgW2MR6I=
-----END CERTIFICATE REQUEST-----
`;
const GROUP = 'certificates.k8s.io';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Requests for certificates: who may ask, approve and sign. */
export function signingCases(seed: number): DifferentialCase[] {
  const name = caseName('access', 'signing', seed);
  // Rights of the whole cluster that another seed gives are for its own signer.
  const domain = `${name}.example.com`;
  const signer = `${domain}/signer`;
  const request = (which: string, spec: Fields, user = 'alice', more: Fields = {}): RequestStep =>
    ask(
      'POST',
      PATH,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: `${name}-${which}` },
        spec: { request: base64(ALICE), signerName: signer, usages: ['client auth'], ...spec },
        ...more,
      },
      { user },
    );
  const change = (which: string, subresource: string, status: Fields, user = 'admin'): RequestStep => ({
    request: {
      method: 'PATCH',
      path: `${PATH}/${name}-${which}/${subresource}`,
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { status },
      user,
    },
  });
  const condition = (type: string, status = 'True'): Fields => ({
    conditions: [{ type, status, reason: 'Because', message: 'of it' }],
  });
  return [
    {
      name,
      subject: 'access',
      combinations: [
        'asked',
        'asker is written',
        'no right to ask',
        'not a request',
        'no usages',
        'unknown usage',
        'no signer',
        'bad signer',
        'built-in signer',
        'with a status',
        'approved',
        'denied',
        'approved and denied',
        'approval taken back',
        'approved by another',
        'signer without the right',
        'approver of the signer',
        'signed',
        'signed anew',
        'not a certificate',
        'failed',
        'spec changed',
        'deleted',
      ].map((what) => `CertificateSigningRequest: ${what}`),
      steps: [
        request('forbidden', {}, 'bob'),
        ask(
          'POST',
          `${RBAC}/clusterroles`,
          role(name, [rule(['certificates.k8s.io'], ['certificatesigningrequests'], ['create', 'get'])], 'ClusterRole'),
        ),
        ask('POST', `${RBAC}/clusterrolebindings`, clusterBinding(name, name, [userSubject('alice')])),
        untilAllowed({ user: 'alice' }, { group: GROUP, resource: 'certificatesigningrequests', verb: 'create' }),
        request('one', { username: 'mallory', groups: ['system:masters'], uid: '1', extra: { a: ['b'] } }),
        request('not', { request: base64('nonsense') }),
        request('unused', { usages: [] }),
        request('misused', { usages: ['client auth', 'to fly'] }),
        request('unsigned', { signerName: undefined }),
        request('oddly', { signerName: 'nobody' }),
        request('apiserver', {
          signerName: 'kubernetes.io/kube-apiserver-client',
          usages: ['digital signature', 'client auth'],
        }),
        request('kubelet', { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' }),
        request('status', {}, 'alice', {
          status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: base64('x') },
        }),
        change('one', 'approval', condition('Approved'), 'alice'),
        ask(
          'POST',
          `${RBAC}/clusterroles`,
          role(
            `${name}-approver`,
            [
              rule(
                ['certificates.k8s.io'],
                ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
                ['update', 'patch'],
              ),
            ],
            'ClusterRole',
          ),
        ),
        ask(
          'POST',
          `${RBAC}/clusterrolebindings`,
          clusterBinding(`${name}-approver`, `${name}-approver`, [userSubject('bob')]),
        ),
        untilAllowed(
          { user: 'bob' },
          { group: GROUP, resource: 'certificatesigningrequests', subresource: 'approval', verb: 'patch' },
        ),
        change('one', 'approval', condition('Approved'), 'bob'),
        change('one', 'status', { certificate: base64('x') }, 'bob'),
        ask(
          'POST',
          `${RBAC}/clusterroles`,
          role(
            `${name}-signer`,
            [rule(['certificates.k8s.io'], ['signers'], ['approve', 'sign'], { resourceNames: [`${domain}/*`] })],
            'ClusterRole',
          ),
        ),
        ask(
          'POST',
          `${RBAC}/clusterrolebindings`,
          clusterBinding(`${name}-signer`, `${name}-signer`, [userSubject('bob')]),
        ),
        untilAllowed({ user: 'bob' }, { group: GROUP, resource: 'signers', verb: 'sign', name: `${domain}/*` }),
        change('one', 'approval', condition('Approved', 'False'), 'bob'),
        change('one', 'approval', condition('Approved'), 'bob'),
        change('one', 'approval', { conditions: [] }, 'bob'),
        change('one', 'approval', {
          conditions: [
            { type: 'Approved', status: 'True' },
            { type: 'Denied', status: 'True' },
          ],
        }),
        change('one', 'status', { certificate: base64('nonsense') }, 'bob'),
        change(
          'one',
          'status',
          {
            conditions: [
              { type: 'Approved', status: 'True', reason: 'Because', message: 'of it' },
              { type: 'Failed', status: 'True' },
            ],
          },
          'bob',
        ),
        change('apiserver', 'approval', condition('Denied')),
        change('apiserver', 'approval', condition('Approved')),
        ask(
          'PATCH',
          `${PATH}/${name}-one`,
          { spec: { usages: ['server auth'] }, metadata: { labels: { a: 'b' } } },
          {
            headers: { 'Content-Type': 'application/merge-patch+json' },
          },
        ),
        ask('GET', PATH, undefined, {
          query: { fieldSelector: `spec.signerName=${signer},metadata.name=${name}-one` },
        }),
        ask('GET', `${PATH}/${name}-one`),
        ask('GET', `${PATH}/${name}-apiserver/approval`),
        ask('DELETE', `${PATH}/${name}-one`),
      ],
    },
  ];
}
