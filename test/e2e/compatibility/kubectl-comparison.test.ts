import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { ControlPlane } from '../../cluster/control-plane.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import {
  commandsOf,
  differsFor,
  folderWithKubectl,
  openNamespace,
  runCommand,
  type Side,
  type Version,
} from '../../kubectl/run-script.ts';
import { SCRIPTS } from '../../kubectl/scripts.ts';

const VERSIONS: readonly Version[] = ['1.20', '1.36'];
const NEEDS = ['etcd', 'kube-apiserver', 'kubectl-1.20', 'kubectl-1.36'];

describe('kubectl prints the same before a real API server and ours', { skip: unlessThere(...NEEDS) }, () => {
  let run: RunFolder;
  let controlPlane: ControlPlane;
  let own: TestServer;
  let sides: (version: Version) => Promise<[real: Side, own: Side]>;

  before(async () => {
    run = await RunFolder.open();
    [controlPlane, own] = await Promise.all([
      ControlPlane.start(run, {
        name: 'real',
        controllers: 'none',
        flags: { apiServer: ['--disable-admission-plugins=ServiceAccount'] },
      }),
      startTestServer({
        controllers: false,
        admissionPlugins: { disable: ['ServiceAccount'] },
        serviceAddressRange: '198.51.100.128/26',
      }),
    ]);
    const kubeconfig = await own.kubeconfig(join(run.path, 'own.kubeconfig'));
    sides = async (version) => {
      const homes = await Promise.all(['real', 'own'].map((name) => run.folder('homes', `${name}-${version}`)));
      return [
        {
          name: 'the real server',
          url: controlPlane.connection.server,
          kubeconfig: controlPlane.kubeconfig,
          home: homes[0]!,
        },
        { name: 'our server', url: own.url, kubeconfig, home: homes[1]! },
      ];
    };
  });

  after(async () => {
    await Promise.all([controlPlane?.[Symbol.asyncDispose](), own?.stop()]);
    await run[Symbol.asyncDispose]();
  });

  for (const version of VERSIONS) {
    for (const script of SCRIPTS) {
      const namespace = `${script.name.replaceAll(/\W/g, '-')}-${version.replace('.', '-')}`;
      describe(`${version}: ${script.name}`, () => {
        let bin: string;
        let here: [Side, Side];

        before(async () => {
          const folder = await run.folder('bin', namespace);
          bin = await folderWithKubectl(requiredBinary(`kubectl-${version}`), folder);
          const both = await sides(version);
          here = (await Promise.all(both.map((side) => openNamespace(side, bin, namespace)))) as [Side, Side];
        });

        for (const command of commandsOf(script, version)) {
          test(command.line, async () => {
            const [real, ours] = await Promise.all(here.map((side) => runCommand(command, side, bin, namespace)));
            if (command.newer?.kubectl === version) assert.equal(ours?.code, 0, ours?.stderr);
            else if (!differsFor(command, version)) assert.deepEqual(ours, real);
            else {
              assert.equal(ours?.code, real?.code, `${ours?.stdout}${ours?.stderr}`);
              assert.notDeepEqual(ours, real, 'it does not differ any more');
            }
          });
        }
      });
    }
  }
});
