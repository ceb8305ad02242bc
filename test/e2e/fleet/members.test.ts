import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { membersDemo } from './members-demo.ts';

membersDemo('real members, driven by kubectl 1.36 through an embedded hub', (run) => EmbeddedHub.start(run));
