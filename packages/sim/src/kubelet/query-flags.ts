import { badRequest } from '@asterism/machinery';
import type { CommandRequest } from './command-streams.ts';

/** A boolean of a query as the API reads it: anything but `false` and `0`, even nothing, is true. */
export function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

/** `PodExecOptions` and `PodAttachOptions`. */
export function readCommandQuery(query: URLSearchParams): CommandRequest {
  return requireStreams({
    stdin: isSet(query, 'stdin'),
    stdout: isSet(query, 'stdout'),
    stderr: isSet(query, 'stderr'),
    tty: isSet(query, 'tty'),
  });
}

/** The same in the names that a kubelet's own routes have. */
export function readKubeletCommandQuery(query: URLSearchParams): CommandRequest {
  const isOne = (name: string): boolean => query.get(name) === '1';
  return requireStreams({
    stdin: isOne('input'),
    stdout: isOne('output'),
    stderr: isOne('error'),
    tty: isOne('tty'),
  });
}

function requireStreams(request: CommandRequest): CommandRequest {
  const stderr = request.stderr && !request.tty;
  if (!request.stdin && !request.stdout && !stderr) {
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
  return { ...request, stderr };
}

const MAX_PORTS = 1000;

/** The ports of a client that forwards over WebSocket channels: `name` repeated, or a list with commas. */
export function readPorts(query: URLSearchParams, name: string): number[] {
  const texts = query.getAll(name);
  if (texts.length === 0) throw badRequest(`query parameter "${name}" is required`);
  const ports = texts.flatMap((text) => {
    if (text === '') throw badRequest(`query parameter "${name}" cannot be empty`);
    return text.split(',').map((each) => readPort(each));
  });
  if (ports.length > MAX_PORTS) throw badRequest(`more than ${MAX_PORTS} ports`);
  return ports;
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 0xffff)
    throw badRequest(`unable to parse "${text.slice(0, 64)}" as a port`);
  if (Number(text) < 1) throw badRequest(`port "${text}" must be > 0`);
  return Number(text);
}
