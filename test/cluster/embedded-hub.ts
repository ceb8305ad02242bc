import { join } from 'node:path';
import { asterService } from './aster.ts';
import type { Daemon } from './daemon.ts';
import type { FleetHub } from './fleet-hub.ts';
import { freePort } from './free-port.ts';
import type { RunFolder } from './run-folder.ts';

/** `aster hub --data-dir`: the hub with an API server of its own. */
export class EmbeddedHub implements FleetHub {
  readonly kubeconfig: string;
  readonly daemons: readonly [Daemon];

  private constructor(dataDir: string, daemon: Daemon) {
    this.kubeconfig = join(dataDir, 'kubeconfig');
    this.daemons = [daemon];
  }

  static async start(run: RunFolder, flags: readonly string[] = []): Promise<EmbeddedHub> {
    const folder = await run.folder('hub');
    const dataDir = join(folder, 'data');
    const listen = `127.0.0.1:${await freePort()}`;
    const daemon = asterService({
      name: 'aster hub',
      args: ['hub', '--data-dir', dataDir, '--listen', listen, ...flags],
      log: join(folder, 'hub.log'),
    });
    const hub = new EmbeddedHub(dataDir, daemon);
    try {
      await hub.startAgain();
      return hub;
    } catch (error) {
      await hub[Symbol.asyncDispose]();
      throw error;
    }
  }

  async startAgain(): Promise<void> {
    const [daemon] = this.daemons;
    if (!daemon.running) await daemon.start();
    await daemon.printed(/^ready https:/m, AbortSignal.timeout(60_000));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemons[0].kill();
  }
}
