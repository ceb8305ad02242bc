import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import { RESOURCE_BINDINGS } from '@asterism/fleet/api';
import { CONFIG_MAPS, findCondition, type KubeObject } from '@asterism/machinery';
import { grant } from '../../../hub/src/testing/grant.ts';
import { apply, TestFleet } from '../../../hub/src/testing/test-fleet.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { promote, type PromoteFlags } from './promote.ts';

const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

describe('aster promote', () => {
  let fleet: TestFleet;
  let member: TestServer;

  before(async () => {
    fleet = await TestFleet.start();
    member = await fleet.startMember();
    await apply(member.client, grant('hub-admin', { kind: 'User', name: 'admin' }, EVERYTHING));
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(member, { clusterName: 'alder', token }).ready;
    await fleet.reached('alder');
    const space: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    const conf: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf', namespace: 'shop' } };
    await apply(member.client, [space, { ...conf, data: { key: 'value' } }]);
  });
  after(() => fleet[Symbol.asyncDispose]());

  const run = async (words: string[], extra: Partial<PromoteFlags> = {}) => {
    const terminal = fakeTerminal();
    const kubeconfig = join(fleet.dataDir, 'kubeconfig');
    const code = await promote(words, { kubeconfig, namespace: 'shop', clusters: 'alder', ...extra }, terminal);
    return { code, stdout: terminal.stdout, stderr: terminal.stderr };
  };
  const inHub = () => fleet.hub.client.resource(CONFIG_MAPS).list({ namespace: 'shop' });

  test('a dry run says what it would create, and creates nothing', async () => {
    const { code, stdout } = await run(['cm/conf'], { dryRun: true });
    assert.equal(code, EXIT.fine);
    assert.equal(
      stdout,
      'propagationpolicy.asterism.dev/conf-configmap created (dry run)\nconfigmap/conf created (dry run)\n',
    );
    const yaml = await run(['cm', 'conf'], { dryRun: true, output: 'yaml' });
    assert.match(yaml.stdout, /^ {6}conflictResolution: Overwrite$/m);
    assert.match(yaml.stdout, /^ {6}key: value$/m);
    assert.deepEqual((await inHub()).items, []);
  });

  const wrong: { name: string; words: string[]; flags?: Partial<PromoteFlags>; says: RegExp; usage?: boolean }[] = [
    {
      name: 'a cluster that is not there',
      words: ['cm/conf'],
      flags: { clusters: 'oak' },
      says: /no cluster "oak"/,
      usage: true,
    },
    { name: 'no name', words: ['cm'], says: /^which one\?/, usage: true },
    { name: 'no such object', words: ['cm/none'], says: /^there is no ConfigMap shop\/none in cluster alder$/ },
  ];
  for (const { name, words, flags, says, usage = false } of wrong) {
    test(`${name}: refused`, async () => {
      await assert.rejects(
        run(words, flags),
        (error) =>
          error instanceof Error &&
          says.test(error.message) &&
          (error instanceof CommandError && error.exitCode === EXIT.usage) === usage,
      );
    });
  }

  test('the hub takes it over by way of the agent; once more says that it stands', async () => {
    const first = await run(['cm/conf']);
    assert.equal(
      first.stdout,
      'namespace/shop created\npropagationpolicy.asterism.dev/conf-configmap created\nconfigmap/conf created\n',
    );
    assert.match(first.stderr, /`aster why configmap\/conf -n shop`/);
    const ref = { namespace: 'shop', name: 'conf' };
    await untilObject(
      fleet.hub.client,
      RESOURCE_BINDINGS,
      { ...ref, name: 'conf-configmap' },
      (it) => findCondition(it?.status?.conditions, 'FullyApplied')?.status === 'True',
    );
    const { metadata, data } = await member.client.resource(CONFIG_MAPS).get(ref);
    assert.deepEqual([metadata?.labels?.['asterism.dev/managed'], data], ['shop.conf-configmap', { key: 'value' }]);
    const again = await run(['cm/conf']);
    assert.equal(again.stdout, 'propagationpolicy.asterism.dev/conf-configmap unchanged\nconfigmap/conf unchanged\n');
  });
});
