import { describe } from 'node:test';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { hostileMember } from './hostile-member.ts';

describe('a hostile member of an embedded hub', () => hostileMember((run) => EmbeddedHub.start(run)));
