import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { AUTHORITY, OTHER_AUTHORITY, SERVER_KEY } from '@asterism/client/testing';
import { CommandError, EXIT } from '../exit-code.ts';
import { readAuthority } from './read-authority.ts';

describe('the file of an authority', () => {
  let dir: string;
  const written = async (text: string): Promise<string> => {
    await writeFile(join(dir, 'ca.crt'), text);
    return join(dir, 'ca.crt');
  };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'asterism-authority-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('may hold several, and words between them', async () => {
    const text = `old:\n${OTHER_AUTHORITY}\nnew:\n${AUTHORITY}\n`;
    assert.equal(await readAuthority('--endpoint-ca', await written(text)), text);
  });

  const damaged = AUTHORITY.replace(/\n[^\n]+\n/, '\nAAAA\n');
  for (const [name, text, says] of [
    ['nothing', '', /^--endpoint-ca: .*ca\.crt holds no certificate \(PEM\)$/],
    ['a key, which is not repeated', SERVER_KEY, /^--endpoint-ca: .*ca\.crt holds no certificate \(PEM\)$/],
    ['a damaged one behind a good one', `${AUTHORITY}\n${damaged}`, /ca\.crt: certificate 2 in it is damaged$/],
  ] as const) {
    test(`refused as wrong usage: ${name}`, async () => {
      await assert.rejects(
        readAuthority('--endpoint-ca', await written(text)),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage && says.test(error.message),
      );
    });
  }

  test('one that cannot be read is named, with what else may be given', () =>
    assert.rejects(readAuthority('--hub-ca', dir, ', or its pin sha256:…'), {
      message: `--hub-ca: ${dir} cannot be read (EISDIR): give the file with the CA (PEM), or its pin sha256:…`,
      exitCode: EXIT.usage,
    }));
});
