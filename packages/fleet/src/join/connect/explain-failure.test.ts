import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientError } from '@asterism/client';
import { conflict, failure, unauthorized } from '@asterism/machinery';
import type { JoinErrorCode } from '../join-error.ts';
import { type Carried, explainHubFailure, explainMemberFailure } from './explain-failure.ts';

const network = (code: string) => new ClientError(`cannot reach (${code})`, { code, server: 'https://hub:7443' });

describe('what a failed call means for a cluster that joins', () => {
  const rows: [name: string, error: unknown, carried: Carried, code: JoinErrorCode | undefined, says: RegExp][] = [
    ['a wrong token', unauthorized(), 'token', 'TokenRefused', /a new one; if it is fresh/],
    ['a token for something else', failure(403, 'no'), 'token', 'TokenRefused', /may not be used to join: no/],
    ['a certificate that ended', unauthorized(), 'certificate', 'CredentialRefused', /Join again/],
    ['a cluster that left', failure(403, 'no'), 'certificate', 'CredentialRefused', /has the cluster left/],
    ['no hub there', failure(404, 'no kind'), 'token', 'RequestRefused', /no kind/],
    ['nobody listens', network('ECONNREFUSED'), 'token', 'HubUnreachable', /ECONNREFUSED/],
    [
      'another authority',
      network('SELF_SIGNED_CERT_IN_CHAIN'),
      'token',
      'HubNotTrusted',
      /Check the address and the CA/,
    ],
    ['another name', network('ERR_TLS_CERT_ALTNAME_INVALID'), 'token', 'HubNotTrusted', /https:\/\/hub:7443/],
    ['a clock that is behind', network('CERT_NOT_YET_VALID'), 'token', 'ClockOff', /clock/],
    ['a clock that is ahead', network('CERT_HAS_EXPIRED'), 'certificate', 'ClockOff', /clock/],
    ['a hub that is busy', failure(503, 'later'), 'token', undefined, /^$/],
    ['two at the same time', conflict({ group: '', resource: 'x' }, 'y', 'z'), 'token', undefined, /^$/],
  ];
  for (const [name, error, carried, code, says] of rows) {
    test(name, () => {
      const explained = explainHubFailure(error, 'https://hub:7443', carried);
      assert.equal(explained?.code, code);
      assert.match(explained?.message ?? '', says);
    });
  }

  test('the member is told apart from the hub', () => {
    assert.equal(explainMemberFailure(network('ECONNREFUSED'))?.code, 'MemberUnreachable');
    assert.equal(explainMemberFailure(network('SELF_SIGNED_CERT_IN_CHAIN'))?.code, 'MemberNotTrusted');
    assert.match(
      explainMemberFailure(network('ERR_TOKEN_FILE'))?.message ?? '',
      /has no credential for its own API server/,
    );
    assert.equal(explainMemberFailure(failure(403, 'no'))?.code, 'MemberForbidden');
    assert.equal(explainMemberFailure(failure(503, 'later')), undefined);
  });
});
