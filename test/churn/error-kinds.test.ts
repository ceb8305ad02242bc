import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorKind } from './error-kinds.ts';

const LINES: readonly (readonly [what: string, line: string, kind: string])[] = [
  [
    'names and places',
    'replica_set.go:532] sync "churn-1/web-2-5d8f7" failed with replicasets.apps "web-2-5d8f7" not found',
    'kcm replica_set.go:<n>] sync <name> failed with replicasets.apps <name> not found',
  ],
  [
    'uids, addresses and numbers',
    'x.go:1] 10.0.0.1:6443 refused 3 of 0a1b2c3d-0000-4000-8000-000000000000 in churn-0/web',
    'kcm x.go:<n>] <address> refused <n> of <uid> in <name>',
  ],
  [
    'a structure of Go with all that it holds',
    'daemon_controller.go:320] churn-1/agent failed with : error storing status for daemon set &v1.DaemonSet{ObjectMeta:v1.ObjectMeta{Name:"agent"}}: gone',
    'kcm daemon_controller.go:<n>] <name> failed with : error storing status for daemon set <structure>: gone',
  ],
];

describe('the kind of an error has no', () => {
  for (const [what, line, kind] of LINES) {
    test(what, () => assert.equal(errorKind({ program: 'kcm', line }), kind));
  }
});
