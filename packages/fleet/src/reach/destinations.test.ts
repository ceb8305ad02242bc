import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDestinationPath, readDestinationCall, wirePath } from './destination-call.ts';
import { parseDestination, readDestinations, readOrigin } from './destinations.ts';

describe('what may stand in an agent’s list', () => {
  const same: [text: string, origin: string][] = [
    ['https://registry.corp:8443', 'https://registry.corp:8443'],
    ['https://registry.corp', 'https://registry.corp:443'],
    ['http://registry.corp', 'http://registry.corp:80'],
    ['HTTPS://Registry.CORP:443/', 'https://registry.corp:443'],
    ['http://10.0.0.7:080', 'http://10.0.0.7:80'],
    ['https://[::1]:8443', 'https://[::1]:8443'],
    ['https://[0:0:0:0:0:0:0:1]', 'https://[::1]:443'],
    ['http://localhost:9000', 'http://localhost:9000'],
  ];
  for (const [text, origin] of same) test(`${text} is ${origin}`, () => assert.equal(readOrigin(text), origin));

  const faults: [text: string, fault: RegExp][] = [
    ['https://a:1/api', /has a path/],
    ['https://a:1/?x', /has a path/],
    ['https://a#x', /has a path/],
    ['https://user:secret@a', /^(?!.*secret).*no user and no password/],
    ['https://user@a', /no user and no password/],
    ['tcp://a:1', /is not https:/],
    ['a:443', /is not https:/],
    ['//a:443', /is not https:/],
    ['', /is not https:/],
    ['https://', /is not https:/],
    ['https://*', /is a pattern/],
    ['https://*.corp:443', /is a pattern/],
    ['https://a:0', /is not https:/],
    ['https://a:65536', /is not https:/],
    ['https://a:', /is not https:/],
    ['https://a:1:2', /is not https:/],
    ['https://a b', /is not https:/],
    ['https://a\\@b', /no user and no password/],
    ['https://a%2eb', /is not https:/],
    ['https://10.0.0.256', /is not https:/],
  ];
  for (const [text, fault] of faults) {
    test(`refused: ${JSON.stringify(text)}`, () => {
      const parsed = parseDestination(text);
      assert.match('fault' in parsed ? parsed.fault : '', fault);
      assert.throws(() => readDestinations(['https://fine', text]), { code: 'ERR_SERVER_URL' });
    });
  }
});

describe('how the hub writes a call to a destination', () => {
  const read: [path: string, destination: string, rest: string][] = [
    ['//https/a.corp:8443/x/y?z=1&z=2', 'https://a.corp:8443', '/x/y?z=1&z=2'],
    ['//http/A.corp', 'http://a.corp:80', '/'],
    ['//http/a?x', 'http://a:80', '/?x'],
    ['//https/%5B::1%5D:1/a%2Fb//c/../d', 'https://[::1]:1', '/a%2Fb//c/../d'],
  ];
  for (const [path, destination, rest] of read) {
    test(path, () => {
      const call = readDestinationCall('GET', path);
      assert.ok(!('fault' in call));
      assert.deepEqual([call.destination, call.path + call.query, call.verb], [destination, rest, 'get']);
      const again = readDestinationCall('GET', wirePath(call));
      assert.deepEqual(again, call);
      assert.ok(isDestinationPath(wirePath(call)));
    });
  }

  for (const path of [
    '//ftp/a:1/x',
    '//https',
    '//https//a',
    '//https/a@b:1/x',
    '//https/a%40b/x',
    '//https/a%2Fb/x',
    '//https/%zz/x',
    '//https/a:b/x',
    '//https/a/x y',
    '//https/a/x\r\nhost: b',
    '//https/a/x#y',
    'https://a/x',
    '///https/a/x',
  ]) {
    test(`no call: ${JSON.stringify(path)}`, () => assert.ok('fault' in readDestinationCall('GET', path)));
  }

  test('a path of the API server is none', () => {
    for (const path of ['/', '/https/a', '//10.0.0.1/api', '//', 'https://a/x'])
      assert.ok(!isDestinationPath(path), path);
  });
});
