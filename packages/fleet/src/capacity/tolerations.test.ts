import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Taint, Toleration } from '../api/index.ts';
import { formatTaint, untoleratedTaint } from './tolerations.ts';

describe('tolerations', () => {
  const taint: Taint = { key: 'dedicated', value: 'ml', effect: 'NoSchedule' };
  const rows: { name: string; taint?: Taint; toleration?: Toleration; tolerated: boolean }[] = [
    { name: 'none', tolerated: false },
    { name: 'equal', toleration: { key: 'dedicated', value: 'ml' }, tolerated: true },
    { name: 'another value', toleration: { key: 'dedicated', value: 'db' }, tolerated: false },
    { name: 'exists', toleration: { key: 'dedicated', operator: 'Exists' }, tolerated: true },
    {
      name: 'another effect',
      toleration: { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' },
      tolerated: false,
    },
    { name: 'everything', toleration: { operator: 'Exists' }, tolerated: true },
    { name: 'no key must be Exists', toleration: { operator: 'Equal', value: 'ml' }, tolerated: false },
    { name: 'NoExecute repels', taint: { key: 'gone', effect: 'NoExecute' }, tolerated: false },
    { name: 'PreferNoSchedule does not', taint: { key: 'slow', effect: 'PreferNoSchedule' }, tolerated: true },
  ];
  for (const row of rows) {
    test(row.name, () => {
      const subject = row.taint ?? taint;
      const found = untoleratedTaint([subject], row.toleration ? [row.toleration] : undefined);
      assert.equal(found, row.tolerated ? undefined : subject);
    });
  }

  test('one of two taints is enough to repel', () => {
    const other: Taint = { key: 'other', effect: 'NoExecute' };
    assert.equal(untoleratedTaint([taint, other], [{ key: 'dedicated', operator: 'Exists' }]), other);
  });

  test('is written as kubectl writes it', () => {
    assert.equal(formatTaint(taint), 'dedicated=ml:NoSchedule');
    assert.equal(formatTaint({ key: 'gone', effect: 'NoExecute' }), 'gone:NoExecute');
  });
});
