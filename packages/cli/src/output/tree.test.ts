import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTree } from './tree.ts';

test('an object reads like kubectl describe', () => {
  const text = formatTree({
    name: 'web',
    labels: { app: 'web' },
    spec: { replicas: 2, containers: [{ name: 'c', args: ['-v', 'x y'] }], empty: [], missing: undefined },
    data: { 'index.html': 'one\ntwo\n' },
  });
  assert.equal(
    text,
    `Name:         web
Labels:
  app: web
Spec:
  replicas: 2
  containers:
    - name: c
      args:
        - -v
        - x y
  empty:  <none>
Data:
  index.html: |
    one
    two
`,
  );
});
