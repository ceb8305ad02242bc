import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Environment, proxyFromEnvironment, withEnvironmentProxy } from './proxy-from-environment.ts';

describe('the proxy of the environment', () => {
  const rows: [name: string, env: Environment, server: string, proxy: string | undefined][] = [
    ['none', {}, 'https://hub', undefined],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'http://a' }, 'https://hub', 'http://a'],
    ['https_proxy', { https_proxy: 'http://a' }, 'https://hub', 'http://a'],
    ['capitals first', { https_proxy: 'http://a', HTTPS_PROXY: 'http://b' }, 'https://hub', 'http://b'],
    ['an empty one is none', { HTTPS_PROXY: '', https_proxy: '' }, 'https://hub', undefined],
    ['ALL_PROXY', { ALL_PROXY: 'http://a' }, 'https://hub', 'http://a'],
    ['all_proxy, behind its own', { all_proxy: 'http://a', https_proxy: 'http://b' }, 'https://hub', 'http://b'],
    ['HTTP_PROXY is not for https', { HTTP_PROXY: 'http://a' }, 'https://hub', undefined],
    ['HTTP_PROXY', { http_proxy: 'http://a', HTTPS_PROXY: 'http://b' }, 'http://hub', 'http://a'],
    ['no_proxy', { HTTPS_PROXY: 'http://a', no_proxy: 'hub' }, 'https://hub', undefined],
    ['NO_PROXY first', { HTTPS_PROXY: 'http://a', NO_PROXY: 'x', no_proxy: 'hub' }, 'https://hub', 'http://a'],
    ['without a scheme', { HTTPS_PROXY: 'proxy:3128' }, 'https://hub', 'proxy:3128'],
  ];
  for (const [name, env, server, proxy] of rows) {
    test(name, () => assert.equal(proxyFromEnvironment(server, env), proxy));
  }

  test('what is no address is refused by the name of its variable, and never quoted', () => {
    const secrets = ['http://u:s3cret@', 'socks5://u:s3cret@proxy', 'http://u:%s3cret@proxy', 'http://u:s3cret@pro xy'];
    for (const value of secrets) {
      assert.throws(
        () => proxyFromEnvironment('https://hub', { https_proxy: value }),
        (error: Error & { code?: string }) =>
          error.code === 'ERR_PROXY_URL' &&
          /https_proxy/.test(error.message) &&
          !String(error.stack).includes('s3cret'),
        value,
      );
    }
  });

  test('a connection keeps its own proxy', () => {
    const connection = { server: 'https://hub', credential: { kind: 'none' } } as const;
    const env = { HTTPS_PROXY: 'http://a' };
    assert.equal(withEnvironmentProxy(connection, env).proxyUrl, 'http://a');
    assert.equal(withEnvironmentProxy({ ...connection, proxyUrl: 'http://b' }, env).proxyUrl, 'http://b');
    assert.equal(withEnvironmentProxy(connection, {}), connection);
  });
});
