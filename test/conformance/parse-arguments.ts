import { parseArgs } from 'node:util';

export type Request =
  | { kind: 'run'; folder: string; area?: string; only?: RegExp; show?: string; failed: boolean }
  | { kind: 'serve'; host: string; port: number };

/** What the command line asks for. Throws an error for people where it asks for nothing that there is. */
export function parseArguments(args: readonly string[], defaultFolder: string): Request {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      serve: { type: 'string' },
      show: { type: 'string' },
      area: { type: 'string' },
      only: { type: 'string' },
      failed: { type: 'boolean', default: false },
    },
  });
  if (values.serve !== undefined) return parseServe(values.serve, positionals);
  const [folder = defaultFolder, ...others] = positionals;
  if (others.length > 0) throw new Error(`one folder at a time, not also ${others.join(', ')}`);
  const { area, only, show, failed } = values;
  return {
    kind: 'run',
    folder,
    failed,
    ...(area === undefined ? {} : { area }),
    ...(only === undefined ? {} : { only: new RegExp(only) }),
    ...(show === undefined ? {} : { show }),
  };
}

function parseServe(address: string, positionals: readonly string[]): Request {
  if (positionals.length > 0) throw new Error(`--serve takes no folder: ${positionals.join(', ')}`);
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new Error(`--serve ${address}: HOST:PORT is needed, e.g. 127.0.0.1:6443`);
  }
  return { kind: 'serve', host, port: Number(port) };
}
