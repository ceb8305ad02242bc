import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  cidrWarnings,
  formatIp,
  ipWarnings,
  networkContains,
  parseCidr,
  parseIp,
  validateCanonicalCidr,
  validateCanonicalIp,
  validateCidr,
  validateIp,
  validateNonSpecialIp,
} from './ip-address.ts';

const BAD_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const BAD_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function details(errors: readonly { message: string }[]): string[] {
  return errors.map(({ message }) => message.replace(/^Invalid value: "[^"]*": /, ''));
}

describe('addresses', () => {
  for (const [text, canonical] of [
    ['10.9.8.7', '10.9.8.7'],
    ['010.009.8.7', '10.9.8.7'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
  ] as const) {
    test(`${text} is ${canonical}`, () => {
      const ip = parseIp(text);
      assert.ok(ip);
      assert.equal(formatIp(ip), canonical);
    });
  }

  for (const text of [
    '',
    'x',
    '300.1.1.1',
    '1.2.3',
    '1.2.3.4.5',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '12345::',
    'fe80::1%eth0',
    '1:2:3:4:5:6:7:8::',
  ]) {
    test(`"${text}" is none`, () => assert.equal(parseIp(text), undefined));
  }

  test('are strict in new values, and let stay what was there', () => {
    assert.deepEqual(details(validateIp('x', 'a')), [BAD_IP]);
    assert.deepEqual(details(validateIp('010.0.0.1', 'a')), ['must not have leading 0s']);
    assert.deepEqual(details(validateIp('::ffff:1.2.3.4', 'a')), ['must not be an IPv4-mapped IPv6 address']);
    assert.deepEqual(validateIp('010.0.0.1', 'a', ['010.0.0.1']), []);
    assert.deepEqual(validateIp('2001:DB8::1', 'a'), []);
    assert.deepEqual(details(validateCanonicalIp('2001:DB8::1', 'a')), ['must be in canonical form ("2001:db8::1")']);
  });

  for (const [text, fault] of [
    ['0.0.0.0', 'may not be unspecified (0.0.0.0)'],
    ['127.8.9.1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['169.254.169.254', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['fe80::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['224.0.0.1', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
    ['ff02::1', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ] as const) {
    test(`${text} is special`, () => assert.deepEqual(details(validateNonSpecialIp(text, 'a')), [fault]));
  }

  test('of the usual kind are not special', () => {
    for (const text of ['192.0.2.1', '224.0.1.1', '2001:db8::1']) assert.deepEqual(validateNonSpecialIp(text, 'a'), []);
  });

  test('that are not canonical are warned of', () => {
    assert.deepEqual(ipWarnings('1.2.3.4', 'a'), []);
    assert.deepEqual(ipWarnings('2001:DB8::1', 'a'), [
      'a: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
  });
});

describe('networks', () => {
  for (const [text, fault] of [
    ['x', BAD_CIDR],
    ['10.0.0.0', BAD_CIDR],
    ['10.0.0.0/33', BAD_CIDR],
    ['::/129', BAD_CIDR],
    ['10.0.0.1/24', 'must not have bits set beyond the prefix length'],
    ['010.0.0.0/8', 'must not have leading 0s in IP or prefix length'],
    ['10.0.0.0/08', 'must not have leading 0s in IP or prefix length'],
    ['::ffff:10.0.0.0/104', 'must not have an IPv4-mapped IPv6 address'],
  ] as const) {
    test(`${text} is none`, () => assert.deepEqual(details(validateCidr(text, 'a')), [fault]));
  }

  test('are canonical in newer fields', () => {
    assert.deepEqual(validateCanonicalCidr('2001:db8::/64', 'a'), []);
    assert.deepEqual(details(validateCanonicalCidr('2001:DB8::/64', 'a')), [
      'must be in canonical form ("2001:db8::/64")',
    ]);
  });

  test('contain addresses of their family alone', () => {
    const network = parseCidr('10.1.0.0/16');
    const [inside, outside, other] = [parseIp('10.1.255.255'), parseIp('10.2.0.0'), parseIp('::1')];
    assert.ok(network && inside && outside && other);
    assert.deepEqual(
      [inside, outside, other].map((ip) => networkContains(network, ip)),
      [true, false, false],
    );
  });

  test('with bits of a host are warned of', () => {
    assert.deepEqual(cidrWarnings('10.0.0.5/24', 'a'), [
      'a: CIDR value "10.0.0.5/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.5/32"?)',
    ]);
  });
});
