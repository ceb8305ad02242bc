import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseAdvertise, parseListen, parseStatusListen } from './listen-address.ts';

test('an address to listen on', () => {
  assert.deepEqual(parseListen('127.0.0.1:7443'), { host: '127.0.0.1', port: 7443 });
  assert.deepEqual(parseListen(':0'), { host: '0.0.0.0', port: 0 });
  assert.deepEqual(parseListen('[::1]:443'), { host: '::1', port: 443 });
});

test('an address to be asked how it goes: of this machine alone, unless another is said', () => {
  assert.deepEqual(parseStatusListen('8080'), { host: '127.0.0.1', port: 8080 });
  assert.deepEqual(parseStatusListen('0.0.0.0:0'), { host: '0.0.0.0', port: 0 });
  assert.deepEqual(parseStatusListen('[::1]:443'), { host: '::1', port: 443 });
});

test('an address to be found at', () => {
  assert.deepEqual(parseAdvertise('hub.example.org'), { host: 'hub.example.org' });
  assert.deepEqual(parseAdvertise('hub.example.org:443'), { host: 'hub.example.org', port: 443 });
  assert.deepEqual(parseAdvertise('10.0.0.7:7443'), { host: '10.0.0.7', port: 7443 });
  assert.deepEqual(parseAdvertise('[fd00::1]:7443'), { host: 'fd00::1', port: 7443 });
  assert.deepEqual(parseAdvertise('fd00::1'), { host: 'fd00::1' });
});

const isUsage = (error: unknown): boolean => error instanceof CommandError && error.exitCode === EXIT.usage;

for (const text of ['', 'localhost', 'localhost:70000', 'https://hub:7443']) {
  test(`no address to listen on: ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseListen(text), isUsage);
  });
}

for (const text of ['', ':8080', 'localhost', '70000', '::1:80']) {
  test(`no address to be asked how it goes: ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseStatusListen(text), isUsage);
  });
}

for (const text of ['', ':7443', 'hub:0', 'hub:70000', 'https://hub:7443', 'a b', '[fd00::1', 'hub:']) {
  test(`no address to be found at: ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseAdvertise(text), isUsage);
  });
}
