#!/usr/bin/env node
// Plain JavaScript on purpose: it must start on a Node that is too old for the rest, and say so or find a newer one.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const self = fileURLToPath(import.meta.url);
const source = new URL('../src/main.ts', import.meta.url);
const built = new URL('../dist/main.js', import.meta.url);
/** In the repository the sources run as they are; a published package brings compiled ones. */
const fromSource = existsSync(source);
const QUIET = '--disable-warning=ExperimentalWarning';
/** Compiled ones need no flag, and so no second process: half of the time that a short command takes. */
const flags = fromSource ? ['--conditions=asterism-source', QUIET] : [];

const isNewEnough = majorOf(process.versions.node) >= NEEDED;
const hasFlags = flags.every((flag) => process.execArgv.includes(flag));

if (isNewEnough && hasFlags) {
  keepCompiledCode();
  hideExperimentalWarnings();
  const { main } = await import((fromSource ? source : built).href);
  await main(process.argv);
} else {
  const node = isNewEnough ? process.execPath : pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `aster: needs Node.js ${NEEDED} or newer, and this is ${process.version} (${process.execPath}).\n` +
        `Install a newer one, or run ${fromSource ? '`npm ci`' : `\`npm install node@${NEEDED}\``} in the project: aster uses that.\n`,
    );
    process.exit(1);
  }
  runAgain(node);
}

/**
 * Lets Node keep what it made of each file (types stripped, compiled): without it a process takes 0.2 s and 30 MB more. The
 * folder is the user's own, since whoever can write there can run code as this user. Child processes take it from the
 * environment.
 */
function keepCompiledCode() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const { directory } = nodeModule.enableCompileCache(join(cache, 'asterism', 'compiled'));
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
}

/** The first releases of Node 24 call their SQLite experimental: nothing that a user has to know. Child processes get the flag. */
function hideExperimentalWarnings() {
  if (process.execArgv.includes(QUIET)) return;
  process.execArgv.push(QUIET);
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const print of printers) print(warning);
  });
}

/** The Node that the project has as the dependency `node`, wherever npm has put it; undefined where that is too old as well. */
function pinnedNode() {
  try {
    const manifest = nodeModule.createRequire(self).resolve('node/package.json');
    if (majorOf(JSON.parse(readFileSync(manifest, 'utf8')).version) < NEEDED) return undefined;
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

function majorOf(version) {
  return Number.parseInt(version, 10);
}

/** Runs this file again by `node`, as if it had been called so: same terminal, same signals, same exit code. */
function runAgain(node) {
  const child = spawn(node, [...flags, self, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal signals the whole group; a signal sent to this process alone is handed on.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0));
  });
}
