import { parseArgs } from 'node:util';

/** What `npm run bench -- …` was asked for. */
export type Request =
  | { kind: 'list' }
  | { kind: 'run'; name: string; json?: string; check: boolean }
  | { kind: 'render'; files: string[] }
  /** The command line is wrong, and how. */
  | { kind: 'usage'; message: string };

/** Understands the words behind `npm run bench --`; `names` are the benches that there are. */
export function parseArguments(args: readonly string[], names: readonly string[]): Request {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    return { kind: 'usage', message: (error as Error).message };
  }
  const { positionals, values } = parsed;
  const { json, check = false, render = false } = values;
  if (render) {
    if (check || json !== undefined) return { kind: 'usage', message: '--render runs no bench: it takes files alone' };
    if (positionals.length > 0) return { kind: 'render', files: positionals };
    return { kind: 'usage', message: '--render: name the files that --json wrote' };
  }
  const [name, ...more] = positionals;
  if (name === undefined) {
    return json === undefined && !check ? { kind: 'list' } : { kind: 'usage', message: 'name the bench to run' };
  }
  if (more.length > 0) return { kind: 'usage', message: `one bench at a time: ${more.join(' ')} is too much` };
  if (!names.includes(name)) {
    return { kind: 'usage', message: `there is no bench ${JSON.stringify(name)}: there are ${names.join(', ')}` };
  }
  return { kind: 'run', name, check, ...(json === undefined ? {} : { json }) };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'string' }, check: { type: 'boolean' }, render: { type: 'boolean' } },
  });
}
