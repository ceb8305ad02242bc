import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { isIPv4, isIPv6 } from './ip-address.ts';

const EDGES = `
0.0.0.0 255.255.255.255 256.1.1.1 01.2.3.4 1.2.3 1.2.3.4.5 1..2.3
:: ::1 1:: ::: : 1: :1 1::2::3 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8
1:2:3:4::5:6:7:8 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 12345:: g:: FE80::A 00001::
::1.2.3.4 1:2:3:4:5:6:1.2.3.4 1:2:3:4:5:6:7:1.2.3.4 1.2.3.4:: ::1.2.3.4:1 ::1.2.3.400 ::1.2.3
fe80::1%eth0 %eth0 fe80::1% fe80::1%a%b 1.2.3.4%eth0 ::% x%::1
`.split(/\s/);

const address = fc
  .array(fc.constantFrom(':', '::', '.', '%', '0', '1', '25', '255', '256', 'a', 'ffff', '1.2.3.4', '1:2:3:'), {
    maxLength: 16,
  })
  .map((parts) => parts.join(''));

test('addresses are recognized as node:net recognizes them', () => {
  const check = (text: string): void => {
    assert.equal(isIPv4(text), net.isIPv4(text), `IPv4 ${text}`);
    assert.equal(isIPv6(text), net.isIPv6(text), `IPv6 ${text}`);
  };
  EDGES.forEach(check);
  fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), address), check), { numRuns: 3000 });
});
