import {
  type ClientHttp2Session,
  connect,
  constants,
  type Http2Stream,
  performServerHandshake,
  type ServerHttp2Session,
  type Settings,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TunnelLimits } from '../limits.ts';

/**
 * HTTP/2 over one connection, reversed: whoever dialled is the server. Each end sets the windows of what it receives; the
 * defaults of 64 KiB would hold a line of 50 ms to 1 MB/s.
 */

/** Headers are bounded by their bytes; their number need not be (a caller may be in hundreds of groups). */
const MAX_HEADER_PAIRS = 2000;

/** Node counts in MB what a session holds to be sent; the windows bound that already. */
const MAX_SESSION_MEMORY = 1024;

/**
 * The end that dialled is protected against a *stranger's* flood of resets by a default of 33 a second. Its client here is the
 * hub that it chose, whose callers may well cancel a thousand watches at once.
 */
const RESETS = { streamResetBurst: 1_000_000, streamResetRate: 1_000_000 };

function settingsOf(limits: TunnelLimits): Settings {
  return {
    enablePush: false,
    initialWindowSize: limits.streamWindow,
    maxFrameSize: limits.maxFrameSize,
    maxHeaderListSize: limits.maxHeaderBytes,
  };
}

/** The hub's end: it sends the requests. */
export function openClientSession(socket: Duplex, limits: TunnelLimits): ClientHttp2Session {
  const session = connect('http://tunnel', {
    createConnection: () => socket,
    settings: settingsOf(limits),
    maxSessionMemory: MAX_SESSION_MEMORY,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    maxSendHeaderBlockLength: limits.maxHeaderBytes * 2,
  });
  session.once('connect', () => session.setLocalWindowSize(limits.connectionWindow));
  return session;
}

/** The agent's end: it answers them. */
export function openServerSession(socket: Duplex, limits: TunnelLimits): ServerHttp2Session {
  const session = performServerHandshake(socket, {
    settings: { ...settingsOf(limits), maxConcurrentStreams: limits.maxStreams },
    maxSessionMemory: MAX_SESSION_MEMORY,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    maxSendHeaderBlockLength: limits.maxHeaderBytes * 2,
    ...RESETS,
  });
  session.once('connect', () => session.setLocalWindowSize(limits.connectionWindow));
  return session;
}

/**
 * Ends a stream before its time. `Http2Stream.close(code)` will not do while this end has not finished sending: Node then sends
 * END_STREAM ahead of the reset, and the other end takes half a body for a whole one.
 */
export function breakOff(stream: Http2Stream, error: Error): void {
  if (stream.destroyed) return;
  if (stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL);
  else stream.destroy(error);
}
