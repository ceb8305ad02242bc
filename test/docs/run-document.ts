import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { matchesOutput } from './matches-output.ts';
import type { Document, Step } from './read-document.ts';
import { isolation, type Outcome, Shell } from './shell.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Far more than anything takes on a machine that has time. */
const PATIENCE_MS = 60_000;

const SOURCES = '--conditions=asterism-source --disable-warning=ExperimentalWarning';

/** What `npm ci` did is there; done again it would take away what the tests run on. And the suites would run this test. */
const PRELUDE = `npm() {
  case "$*" in
    ci) test -d node_modules ;;
    test* | 'run test'* | 'run check'*) echo 'a document in the tests cannot run the tests'; false ;;
    *) command npm "$@" ;;
  esac
}`;

/** Why a document cannot be run here, or false. */
export function unlessRunnable({ needs }: Document): false | string {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  const missing = needs.filter((name) => !folder || !existsSync(join(folder, name)));
  return missing.length === 0 ? false : `no ${missing.join(', no ')}: set KUBEBUILDER_ASSETS to a folder that has it`;
}

/** A folder that looks like a clone and a home of its own; both go with the run. */
class Place implements AsyncDisposable {
  readonly path: string;
  readonly clone: string;
  readonly home: string;

  private constructor(path: string) {
    this.path = path;
    this.clone = join(path, 'asterism');
    this.home = join(path, 'home');
  }

  static async create(needs: readonly string[]): Promise<Place> {
    const place = new Place(await mkdtemp(join(tmpdir(), 'asterism-docs-')));
    await Promise.all([place.clone, place.home, join(place.path, 'bin')].map((path) => mkdir(path)));
    for (const name of await readdir(root))
      if (!name.startsWith('.')) await symlink(join(root, name), join(place.clone, name));
    for (const name of needs) {
      const program = join(process.env['KUBEBUILDER_ASSETS'] ?? '', name);
      await symlink(program, join(place.path, 'bin', name));
    }
    // A kubectl that the document does not say it needs would be missing elsewhere.
    if (!needs.includes('kubectl')) await symlink('/bin/false', join(place.path, 'bin', 'kubectl'));
    return place;
  }

  get environment(): Record<string, string> {
    const bin = [join(this.path, 'bin'), join(root, 'node_modules', '.bin'), dirname(process.execPath)];
    return {
      HOME: this.home,
      TMPDIR: this.path,
      PATH: [...bin, process.env['PATH'] ?? ''].join(delimiter),
      LANG: 'C.UTF-8',
      KUBECTL_KUBERC: 'false',
      ...(process.env['KUBEBUILDER_ASSETS'] ? { KUBEBUILDER_ASSETS: process.env['KUBEBUILDER_ASSETS'] } : {}),
      NO_COLOR: '1',
      XDG_CACHE_HOME: join(root, 'node_modules', '.cache'),
      npm_config_update_notifier: 'false',
      npm_config_loglevel: 'error',
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Does what a document says, in its order, in one shell. Rejects at the first command that does not do what is written. */
export async function runDocument(document: Document): Promise<void> {
  await using place = await Place.create(document.needs);
  await using shell = await Shell.open({
    cwd: place.clone,
    environment: place.environment,
    isolation: isolation(),
    prelude: PRELUDE,
  });
  for (const step of document.steps) await runStep(step, { document, shell, place });
}

interface Running {
  document: Document;
  shell: Shell;
  place: Place;
}

async function runStep(step: Step, { document, shell, place }: Running): Promise<void> {
  const fail = (what: string, { exitCode, output }: Outcome): never => {
    const ended = exitCode === undefined ? 'did not come to an end' : `ended with ${exitCode}`;
    throw new Error(`${document.path}:${step.line}: ${what} ${ended}:\n${output}`);
  };
  if (step.kind === 'file') await writeFile(join(place.clone, step.name), step.text);
  if (step.kind === 'interrupt') {
    const outcome = await shell.interrupt(PATIENCE_MS);
    if (outcome.exitCode !== 0 && outcome.exitCode !== 130) fail('what was interrupted', outcome);
  }
  if (step.kind === 'background') {
    const outcome = await shell.start(step.command, { ready: step.ready, patienceMs: PATIENCE_MS });
    if (outcome.exitCode !== 0) fail(`${step.command.trim()} (waiting for ${step.ready})`, outcome);
  }
  if (step.kind === 'control plane') {
    const command = `node ${SOURCES} ${join(root, 'test/docs/control-plane-process.ts')} ${step.name} ${step.role}`;
    const outcome = await shell.start(command, { ready: /^ready /m, patienceMs: PATIENCE_MS });
    if (outcome.exitCode !== 0) fail(`the control plane ${step.name}`, outcome);
  }
  if (step.kind === 'run') await runCommand(step, shell, fail);
}

async function runCommand(
  step: Step & { kind: 'run' },
  shell: Shell,
  fail: (what: string, outcome: Outcome) => never,
): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const outcome = await shell.run(step.command, { patienceMs: PATIENCE_MS });
    const isRight = outcome.exitCode === step.exitCode;
    const says = step.expected === undefined || matchesOutput(step.expected, outcome.output);
    if (isRight && says) return;
    const isOver = !step.repeat || outcome.exitCode === undefined || Date.now() > end;
    if (isOver && !isRight) fail(step.command.trim(), outcome);
    if (isOver) fail(`${step.command.trim()} does not say\n${step.expected}\nbut`, outcome);
  }
}
