import assert from 'node:assert/strict';
import { dirname, basename } from 'node:path';
import { test } from 'node:test';
import { MissingBinary, realBinary } from './real-binary.ts';

test('realBinary: says what to set where there is none', () => {
  assert.equal(realBinary(basename(process.execPath), dirname(process.execPath)), process.execPath);
  assert.throws(
    () => realBinary('etcd', ''),
    (error) => error instanceof MissingBinary && /KUBEBUILDER_ASSETS/.test(error.message),
  );
  assert.throws(() => realBinary('etcd', '/nowhere'), /no etcd in KUBEBUILDER_ASSETS \(\/nowhere\)/);
});
