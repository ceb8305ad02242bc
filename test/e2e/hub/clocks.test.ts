import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { type Cluster, CLUSTERS, clusterNamespace, HEARTBEAT_LEASE } from '@asterism/fleet/api';
import { CUSTOM_RESOURCE_DEFINITIONS, findCondition, LEASES } from '@asterism/machinery';
import { until } from '../../cluster/until.ts';
import { untilAll } from '../../cluster/until-all.ts';
import { AsterUp, temporaryDataDir } from '../../demo/aster-up.ts';

/** Of the Debian package libfaketime. It fakes the wall clock and leaves the monotonic one, as NTP, an administrator and a sleep do. */
const LIBRARY = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib']
  .map((folder) => join(folder, 'faketime/libfaketimeMT.so.1'))
  .find(existsSync);
const skip = LIBRARY === undefined ? 'libfaketime is not installed' : false;

const NAMES = ['alder', 'birch', 'cedar'];

describe('somebody sets the clock of a machine with a hub and its members', { skip }, () => {
  let up: AsterUp;
  let hub: Client;
  let clockFile: string;
  const parts = new AsyncDisposableStack();

  /** Every process of `aster up` sees the true time moved by this, from its next look on. */
  const setClock = (offset: string): Promise<void> => writeFile(clockFile, `${offset}\n`);

  before(async () => {
    const { path: dataDir } = parts.use(await temporaryDataDir());
    clockFile = `${dataDir}-clock`;
    parts.defer(() => rm(clockFile, { force: true }));
    await setClock('-600');
    const environment = {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    up = parts.use(new AsterUp(dataDir, ['--members', '3'], environment));
    await up.ready();
    hub = await up.hub();
  });

  after(() => parts.disposeAsync());

  /** Every member serves a new kind, which its agent has to report. */
  async function newKindIsReported(plural: string): Promise<void> {
    const group = 'clocks.example';
    for (const name of NAMES) {
      const member = await up.member(name);
      await member.resource(CUSTOM_RESOURCE_DEFINITIONS).create({
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural, kind: `K${plural}`, singular: plural, listKind: `K${plural}List` },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      });
    }
    await untilAll(hub, CLUSTERS, { timeoutMs: 20_000 }, (clusters) =>
      clusters.every(({ status }) =>
        status?.apis?.some(({ groupVersion, resources }) => {
          return groupVersion === `${group}/v1` && resources.some((each) => each.name === plural);
        }),
      ),
    );
  }

  test('forward by ten minutes, then back by nine: agents report within seconds', async () => {
    await newKindIsReported('firsts');
    await setClock('+0');
    await newKindIsReported('seconds');
    await setClock('-540');
    await newKindIsReported('thirds');
  });

  test('two hours of sleep: within a minute every cluster is Ready again, and is reported', async () => {
    const woken = Date.now() + 2 * 3_600_000;
    await setClock('+2h');
    const isReady = ({ status }: Cluster): boolean => findCondition(status?.conditions, 'Ready')?.status === 'True';
    // "Ready" says nothing before the agents see the new time.
    const deadline = performance.now() + 60_000;
    const left = () => ({ timeoutMs: Math.ceil(deadline - performance.now()) });
    for (const name of NAMES) {
      const heartbeat = { namespace: clusterNamespace(name), name: HEARTBEAT_LEASE };
      await until(hub, LEASES, heartbeat, ({ spec }) => Date.parse(spec?.renewTime ?? '') >= woken, left());
    }
    await untilAll(hub, CLUSTERS, left(), (clusters) => clusters.length === 3 && clusters.every(isReady));
    await newKindIsReported('fourths');
  });
});
