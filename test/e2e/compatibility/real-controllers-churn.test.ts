import { test } from 'node:test';
import { CHURN_BINARIES, runChurnSuite } from '../../churn/churn-suite.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';

test(
  'kube-controller-manager and kube-scheduler 1.20 do before our server what they do before their own',
  {
    skip: unlessThere(...CHURN_BINARIES),
  },
  (t) => runChurnSuite(t, { seed: 1, changes: 80, durationMs: 45_000, graceSeconds: 16 }),
);
