import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const PACKAGES = join(import.meta.dirname, '../../packages');

/** A text in code that begins as a header of impersonation, or of a front proxy, does. */
const HEADER = /['"`](?:impersonate-|x-remote-)/i;

/** Files that may name such headers, and the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'client/src/identity-headers.ts': 'makes them',
  'client/src/http/http-transport.ts': 'asks whether a request has its own',
  'apiserver/src/authentication/impersonation.ts': 'reads them',
  'apiserver/src/forward/caller-headers.ts': 'names the two kinds to the function that makes them',
  'apiserver/src/http/wire/read-request.ts': 'keeps their values apart',
  'apiserver/src/compose/publish-client-ca.ts': 'publishes the names that a front proxy of this server uses',
};

test('one function makes the headers that name a caller, and no other code does', () => {
  const found = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^[\w-]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing\//.test(path))
    .filter((path) => codeOf(readFileSync(join(PACKAGES, path), 'utf8')).some((line) => HEADER.test(line)));
  assert.deepEqual(found.sort(), Object.keys(ALLOWED).sort());
});

/** Without the lines of comments. */
function codeOf(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(\/?\*|\/\/)/.test(line));
}
