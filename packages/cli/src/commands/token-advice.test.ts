import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentCommand, tokenAdvice } from './token-advice.ts';

const HUB = { server: 'https://hub.example.org:7443', pin: 'sha256:0a', ca: 'PEM\n', onlyHere: false };
const EXPIRES = '2026-11-21T17:00:00Z';

test('the command for the other side, for one cluster and for any', () => {
  assert.equal(
    agentCommand(HUB, 'edge-1'),
    'aster agent --kubeconfig edge-1.kubeconfig --name edge-1 --mode pull --hub https://hub.example.org:7443 --hub-ca sha256:0a --token-file token',
  );
  assert.match(agentCommand(HUB), /--kubeconfig NAME\.kubeconfig --name NAME /);
});

test('what is plain is not said', () => {
  const text = tokenAdvice({ hub: HUB, cluster: 'edge-1', expires: EXPIRES, autoApprove: true });
  assert.equal(
    text,
    `This token is shown once, and can be used until ${EXPIRES}.

On the other side, with the token in the file \`token\`:
  aster agent manifests --mode pull | kubectl --kubeconfig edge-1.kubeconfig apply -f -
  ${agentCommand(HUB, 'edge-1')}
`,
  );
});

test('a hub that does not show its CA is known by the CA itself', () => {
  const text = tokenAdvice({ hub: { ...HUB, pin: undefined }, expires: EXPIRES, autoApprove: true });
  assert.match(text, /does not show its CA.*\ncat > hub-ca\.crt <<EOF\nPEM\nEOF\n/);
  assert.match(text, /--hub-ca hub-ca\.crt /);
  const none = tokenAdvice({ hub: { ...HUB, pin: undefined, ca: undefined }, expires: EXPIRES, autoApprove: true });
  assert.match(none, /holds no CA of https:\/\/hub\.example\.org:7443/);
});

test('a name is asked for, an approval, an address', () => {
  const text = tokenAdvice({ hub: { ...HUB, onlyHere: true }, expires: EXPIRES, autoApprove: false });
  assert.match(text, /NAME is what the cluster shall be called/);
  assert.match(text, /kubectl patch clusterregistration REGISTRATION --subresource=status .*Approved/);
  assert.match(text, /leads to this machine alone/);
});
