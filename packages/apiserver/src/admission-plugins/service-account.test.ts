import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry, refused, type TestRegistry } from '../compose/testing/test-registry.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const MIRROR = { annotations: { 'kubernetes.io/config.mirror': 'x' } };

function pod(spec: object = {}, metadata: object = {}): KubeObject {
  return {
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'app', image: 'nginx:1.27' }], ...spec },
  };
}

function account(more: object = {}, metadata: object = {}): KubeObject {
  return { metadata: { name: 'default', ...metadata }, ...more };
}

function open(): Promise<TestRegistry> {
  return openTestRegistry({ admissionPlugins: {}, random: () => 0 });
}

interface View {
  serviceAccountName?: string;
  serviceAccount?: string;
  imagePullSecrets?: object[];
  volumes?: { name: string; projected?: object }[];
  containers: { volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[] }[];
}

describe('the service account of a pod', () => {
  const TABLE: { name: string; account: KubeObject; pod: KubeObject; expected: (spec: View) => void }[] = [
    {
      name: 'is the default one, with a token',
      account: account({ imagePullSecrets: [{ name: 'registry' }] }),
      pod: pod(),
      expected({ serviceAccountName, serviceAccount, imagePullSecrets, volumes, containers }) {
        assert.deepEqual([serviceAccountName, serviceAccount], ['default', 'default']);
        assert.deepEqual(imagePullSecrets, [{ name: 'registry' }]);
        const [volume] = volumes ?? [];
        assert.match(volume?.name ?? '', /^kube-api-access-.{5}$/);
        assert.deepEqual(volume?.projected, {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
              },
            },
          ],
          defaultMode: 420,
        });
        const mount = { name: volume?.name ?? '', readOnly: true, mountPath: MOUNT_PATH };
        assert.deepEqual(containers[0]?.volumeMounts, [mount]);
      },
    },
    {
      name: 'gives no token where the account says so',
      account: account({ automountServiceAccountToken: false }),
      pod: pod(),
      expected: ({ volumes }) => assert.equal(volumes, undefined),
    },
    {
      name: 'gives a token where the pod says so, whatever the account does',
      account: account({ automountServiceAccountToken: false }),
      pod: pod({ automountServiceAccountToken: true }),
      expected: ({ volumes }) => assert.equal(volumes?.length, 1),
    },
    {
      name: 'leaves what is mounted there',
      account: account(),
      pod: pod({
        containers: [{ name: 'app', image: 'i', volumeMounts: [{ name: 'own', mountPath: MOUNT_PATH }] }],
        volumes: [{ name: 'own', emptyDir: {} }],
      }),
      expected: ({ volumes }) => assert.deepEqual(volumes, [{ name: 'own', emptyDir: {} }]),
    },
    {
      name: 'takes a volume that was given by it before',
      account: account(),
      pod: pod({ volumes: [{ name: 'kube-api-access-abcde', emptyDir: {} }] }),
      expected({ volumes, containers }) {
        assert.equal(volumes?.length, 1);
        assert.equal(containers[0]?.volumeMounts?.[0]?.name, 'kube-api-access-abcde');
      },
    },
    {
      name: 'leaves pull secrets of the pod',
      account: account({ imagePullSecrets: [{ name: 'registry' }] }),
      pod: pod({ imagePullSecrets: [{ name: 'own' }] }),
      expected: ({ imagePullSecrets }) => assert.deepEqual(imagePullSecrets, [{ name: 'own' }]),
    },
    {
      name: 'is none for mirror pods',
      account: account(),
      pod: pod({ nodeName: 'n' }, MIRROR),
      expected: ({ serviceAccountName, volumes }) =>
        assert.deepEqual([serviceAccountName, volumes], [undefined, undefined]),
    },
  ];
  for (const row of TABLE) {
    test(row.name, async () => {
      await using t = await open();
      await t.create('v1/serviceaccounts', row.account);
      row.expected((await t.create('v1/pods', row.pod)).spec as View);
    });
  }

  test('is waited for where it is the default one', async () => {
    await using t = await open();
    const creating = t.create('v1/pods', pod());
    await t.create('v1/serviceaccounts', account());
    assert.equal(((await creating).spec as View).serviceAccountName, 'default');
  });

  const enforced = account(
    { secrets: [{ name: 'mine' }] },
    { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
  );
  const env = (name: string): object => ({ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } });
  const REFUSED: { name: string; account?: KubeObject; pod: KubeObject; why: string }[] = [
    {
      name: 'must exist',
      pod: pod({ serviceAccountName: 'other' }),
      why: 'error looking up service account default/other: serviceaccount "other" not found',
    },
    {
      name: 'is not for mirror pods',
      pod: pod({ serviceAccountName: 'default' }, MIRROR),
      why: 'a mirror pod may not reference service accounts',
    },
    {
      name: 'nor are Secrets',
      pod: pod({ containers: [{ name: 'app', image: 'i', env: [env('s')] }] }, MIRROR),
      why: 'a mirror pod may not reference secrets',
    },
    {
      name: 'may bind pods to its Secrets: volumes',
      account: enforced,
      pod: pod({ volumes: [{ name: 'v', secret: { secretName: 'theirs' } }] }),
      why: 'volume with secret.secretName="theirs" is not allowed because service account default does not reference that secret',
    },
    {
      name: 'may bind pods to its Secrets: variables',
      account: enforced,
      pod: pod({ containers: [{ name: 'app', image: 'i', env: [env('mine'), env('theirs')] }] }),
      why: 'container app with envVar E referencing secret.secretName="theirs" is not allowed because service account default does not reference that secret',
    },
    {
      name: 'may bind pods to its Secrets: pulling',
      account: enforced,
      pod: pod({ imagePullSecrets: [{ name: 'theirs' }] }),
      why: 'imagePullSecrets[0].name="theirs" is not allowed because service account default does not reference that imagePullSecret',
    },
  ];
  for (const row of REFUSED) {
    test(row.name, async () => {
      await using t = await open();
      await t.create('v1/serviceaccounts', row.account ?? account());
      await refused(t.create('v1/pods', row.pod), 403, `pods "p" is forbidden: ${row.why}`);
    });
  }
});
