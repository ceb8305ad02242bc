import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { describeJoining } from './joining-story.ts';

describeJoining('a hub with an API server of its own', [], (run) =>
  EmbeddedHub.start(run, ['--cluster-signing-duration', '1m']),
);
