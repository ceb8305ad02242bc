import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CommandError } from '../exit-code.ts';
import { readBootstrapToken, type TokenSource } from './read-bootstrap-token.ts';

describe('the bootstrap token', () => {
  let dir: string;
  const missing: string[] = [];
  const read = (source: Partial<TokenSource>, stdin = '') =>
    readBootstrapToken({
      file: undefined,
      variable: undefined,
      onMissing: (file) => void missing.push(file),
      readStdin: async () => stdin,
      ...source,
    });
  const file = async (text: string): Promise<string> => {
    await writeFile(join(dir, 'token'), text);
    return join(dir, 'token');
  };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'asterism-token-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('comes from a file, from stdin, or from the environment; the flag goes first', async () => {
    assert.equal(
      await read({ file: await file('abcdef.0123456789abcdef\n'), variable: 'other' }),
      'abcdef.0123456789abcdef',
    );
    assert.equal(await read({ file: '-' }, ' fromstdin\n'), 'fromstdin');
    assert.equal(await read({ variable: 'fromenv' }), 'fromenv');
    assert.equal(await read({ variable: '' }), undefined);
  });

  test('a file that is not there any more is told of, and no error by itself', async () => {
    assert.equal(await read({ file: join(dir, 'gone') }), undefined);
    assert.deepEqual(missing, [join(dir, 'gone')]);
  });

  test('what holds no token, or more than one, is refused without being repeated', async () => {
    const refused = (message: RegExp) => (error: unknown) =>
      error instanceof CommandError && message.test(error.message);
    await assert.rejects(read({ file: await file(' \n') }), refused(/token: there is no token in it/));
    await assert.rejects(read({ file: '-' }), refused(/^stdin: there is no token/));
    await assert.rejects(
      read({ file: await file('secret.one\nsecret.two\n') }),
      refused(/^(?!.*secret).*more than one/),
    );
    await assert.rejects(read({ file: dir }), refused(/--token-file .*: cannot be read \(EISDIR\)/));
  });
});
