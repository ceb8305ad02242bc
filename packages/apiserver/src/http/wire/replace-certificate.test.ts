import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createCertificateAuthority, issueCertificate } from '../../pki/index.ts';
import { fine, open, start } from './test-listener.ts';

test('new connections get another certificate, also after further trust; open ones go on', async (t) => {
  const running = await start(t, fine);
  const ca = await createCertificateAuthority({ commonName: 'other' });
  const subject = { commonName: 'next', ipAddresses: ['127.0.0.1'], days: 1 };
  const before = await open(running);
  running.listener.replaceCertificate(await issueCertificate(ca, { ...subject, usages: ['server'] }));
  const bundle = running.ca + ca.cert;
  const after = await open({ ...running, ca: bundle });
  running.listener.trust(ca.cert);
  const later = await open({ ...running, ca: bundle });
  const names = [before, after, later].map((socket) => socket.getPeerCertificate().subject.CN);
  assert.deepEqual(names, ['s', 'next', 'next']);
  before.write('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
  const [answer] = (await once(before, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1.1 200/);
  for (const socket of [before, after, later]) socket.destroy();
});
