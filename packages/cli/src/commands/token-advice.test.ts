import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinCommand, tokenAdvice } from './token-advice.ts';

const HUB = { server: 'https://hub.example.org:7443', pin: 'sha256:0a', ca: 'PEM\n', onlyHere: false };
const EXPIRES = '2026-11-21T17:00:00Z';

test('the command for the other side, for one cluster and for any', () => {
  assert.equal(
    joinCommand(HUB, 'abcdef.0123456789abcdef', 'edge-1'),
    'aster join --hub https://hub.example.org:7443 --token abcdef.0123456789abcdef --ca-hash sha256:0a --name edge-1',
  );
  assert.match(joinCommand(HUB, 'token'), / --name NAME$/);
  assert.match(joinCommand({ ...HUB, pin: undefined }, 'token'), / --hub-ca hub-ca\.crt --name NAME$/);
});

test('what is plain is not said', () => {
  const text = tokenAdvice({ hub: HUB, cluster: 'edge-1', expires: EXPIRES, autoApprove: true });
  assert.equal(
    text,
    `The token in it is shown once, and can be used until ${EXPIRES}.

Run the command where the cluster is administered (--kubeconfig FILE says by which kubeconfig), or with --manifest added,
to have what it would apply printed for \`kubectl apply -f -\`.
`,
  );
});

test('a hub that does not show its CA is known by the CA itself', () => {
  const text = tokenAdvice({ hub: { ...HUB, pin: undefined }, expires: EXPIRES, autoApprove: true });
  assert.match(text, /does not show its CA.*\ncat > hub-ca\.crt <<EOF\nPEM\nEOF\n/);
  const none = tokenAdvice({ hub: { ...HUB, pin: undefined, ca: undefined }, expires: EXPIRES, autoApprove: true });
  assert.match(none, /holds no CA of https:\/\/hub\.example\.org:7443/);
});

test('a name is asked for, an approval, an address', () => {
  const text = tokenAdvice({ hub: { ...HUB, onlyHere: true }, expires: EXPIRES, autoApprove: false });
  assert.match(text, /NAME is what the cluster shall be called/);
  assert.match(text, /^ {2}aster approve NAME$/m);
  assert.match(
    tokenAdvice({ hub: HUB, cluster: 'edge-1', expires: EXPIRES, autoApprove: false }),
    /aster approve edge-1$/m,
  );
  assert.match(text, /leads to this machine alone/);
});
