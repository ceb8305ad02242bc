import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { clusterStreams } from './cluster-streams.ts';

clusterStreams('exec, attach, logs, port-forward and cp through an embedded hub', (run) => EmbeddedHub.start(run));
