import { join } from 'node:path';
import { createHub, type Hub } from '@asterism/hub';
import { keepHeapCompact } from '@asterism/runtime';
import { showDemo } from '../demo/show-demo.ts';
import { EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { fileLogger } from '../log/json-logger.ts';
import { joinMembers } from './join-members.ts';
import { planMembers } from './member-plan.ts';
import { nextSteps } from './next-steps.ts';
import { explainHubStart } from '../service/explain-hub-start.ts';
import { prepareDataDir } from '../service/prepare-data-dir.ts';
import { stopSignal, whenAborted } from '../service/stop-signal.ts';
import { Progress } from './progress.ts';
import { parseUpOptions, type UpFlags, type UpOptions } from './up-options.ts';
import { startWorkers } from './workers.ts';
import { oneLine } from '../output/one-line.ts';

/**
 * `aster up`: a hub in this process, the members in a second one and their agents in a third. Stays up until SIGINT or SIGTERM;
 * started again on the same data dir it goes on where it was.
 */
export async function up(flags: UpFlags, terminal: Terminal): Promise<number> {
  const options = parseUpOptions(flags);
  const stop = stopSignal();
  keepHeapCompact(stop);
  const progress = new Progress(terminal, terminal.style('bold', '⁂ Asterism'));
  await using parts = new AsyncDisposableStack();
  const hub = await start(options, { parts, progress, stop, terminal });
  if (!stop.aborted) {
    terminal.out(nextSteps(hub.kubeconfigPath, options));
    terminal.out(oneLine(`ready ${hub.url}`));
    await Promise.race([whenAborted(stop), hub.done]);
  }
  terminal.err('stopping\n');
  return EXIT.fine;
}

interface StartContext {
  /** Takes what has to be stopped: last started, first stopped. */
  parts: AsyncDisposableStack;
  progress: Progress;
  stop: AbortSignal;
  terminal: Terminal;
}

/** Everything up and, with `--demo`, shown; or, where the signal came first, as far as it got. */
async function start(options: UpOptions, { parts, progress, stop, terminal }: StartContext): Promise<Hub> {
  const { dataDir } = options;
  progress.waiting('hub', 'starting');
  const plans = planMembers(options.members);
  try {
    await prepareDataDir(dataDir);
    const hub = createHub({
      dataDir,
      listen: options.listen,
      logger: fileLogger(join(dataDir, 'logs', 'hub.log')),
    });
    parts.use(hub);
    const workers = startWorkers(dataDir);
    parts.defer(() => workers.stop());
    await hub.start();
    progress.done('hub', hub.url);
    await Promise.race([joinMembers(hub, plans, { workers, dataDir, progress }), hub.done, whenAborted(stop)]);
    if (!stop.aborted && options.demo) await showDemo(hub.client, plans, { progress, terminal, signal: stop });
    return hub;
  } catch (error) {
    throw explainHubStart(error, dataDir);
  }
}
