import type { Daemon } from './daemon.ts';

/** The hub of a {@link Fleet}, however it is run. */
export interface FleetHub extends AsyncDisposable {
  /** Of its administrator, on the API server that kubectl talks to. */
  readonly kubeconfig: string;
  /** What can be killed, `aster hub` first. */
  readonly daemons: readonly Daemon[];
  /** Starts what does not run. Resolves when it works. */
  startAgain(): Promise<void>;
}
