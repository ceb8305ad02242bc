import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Binding } from '../commands/explain-binding.ts';
import { explainBinding } from '../commands/explain-binding.ts';
import { CommandError, describeError } from '../exit-code.ts';
import { explainPassedOver } from '../placement/explain-preview.ts';
import { formatFinding } from './findings.ts';
import { oneLine } from './one-line.ts';
import { formatTree } from './tree.ts';

const HOSTILE = 'no\nforged line\r\nforged line';

const finding = { state: 'Fault', check: 'hub', message: HOSTILE, remedy: HOSTILE } as const;
const policy = { kind: 'PropagationPolicy', metadata: { name: 'p' } };
const binding = {
  spec: {
    authority: HOSTILE,
    withheld: [{ kind: 'Secret', name: 's', message: HOSTILE }],
    decisions: [{ cluster: 'birch', selected: false, reason: 'NotPermitted', message: HOSTILE }],
  },
  status: {
    conditions: [
      { type: 'Scheduled', status: 'False', reason: 'x', message: HOSTILE },
      { type: 'FullyApplied', status: 'False', reason: 'SuspendDispatching', message: HOSTILE },
    ],
    aggregatedStatus: [{ clusterName: 'birch', applied: false, appliedMessage: HOSTILE }],
    unappliedOverrides: [{ reason: 'Refused', clusters: ['birch'], policy: 'o', message: HOSTILE }],
  },
} as unknown as Binding;

describe('a message of a member cannot look like a line of the command:', () => {
  const rows: [string, string][] = [
    ['a line', oneLine(`birch: ${HOSTILE}`)],
    ['an error', describeError(new Error(HOSTILE))],
    ['an error of several lines', describeError(new CommandError(HOSTILE, 1, { lines: ['own', HOSTILE] }))],
    ['a finding', formatFinding(finding, (_, text) => text)],
    ['a policy that does not place', explainPassedOver([{ policy, why: HOSTILE }] as never)],
    ['why', explainBinding(binding, 'deployment/web', undefined, { passedOver: [], overrides: new Map() })],
    ['describe', formatTree({ message: HOSTILE, list: [HOSTILE], labels: { [HOSTILE]: HOSTILE } })],
  ];
  for (const [name, text] of rows) {
    test(name, () => {
      assert.match(text, /forged line/);
      assert.doesNotMatch(text, /^forged line/m);
    });
  }

  test('every command writes its lines with oneLine', () => {
    const src = join(import.meta.dirname, '..');
    const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts'));
    const found = files.flatMap((file) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(/\b(?:out|err)\(\s*`(?!\$\{JSON\.stringify)[^`]*\$\{/g)].map(
        ([text]) => `${file}: ${text}`,
      ),
    );
    assert.ok(files.length > 50);
    assert.deepEqual(found, []);
  });
});
