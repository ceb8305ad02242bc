// Runs beside other tests: it waits while a member is cut off for 30 s and frozen for 30 s.
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { membersBreaking } from './members-breaking.ts';

membersBreaking('real members and an embedded hub break at random moments of a change', (run) =>
  EmbeddedHub.start(run),
);
