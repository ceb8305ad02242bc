import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import { type LocalRegistry, startRegistry } from './local-registry.ts';
import { packPackages, unpack } from './packed-packages.ts';
import { UserProject } from './user-project.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const users = fileURLToPath(new URL('users', import.meta.url));
const tsc = join(repository, 'node_modules/.bin/tsc');
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    module: 'nodenext',
    target: 'esnext',
    types: ['node'],
    skipLibCheck: false,
    outDir: 'out',
  },
  include: ['*.ts'],
};

/** What a compiled file or a declaration imports from outside its package. */
const IMPORTED = /(?:^(?:import|export|\}).* from |\bimport\()['"]([^'".][^'"]*)['"]/gm;

interface Manifest {
  name: string;
  version: string;
  engines: { node: string };
  license: string;
  bin?: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  imports?: Record<string, Record<string, string>>;
  dependencies: Record<string, string>;
}

interface Packed {
  manifest: Manifest;
  folder: string;
  /** Relative to `folder`. */
  files: string[];
}

let dir: string;
let registry: LocalRegistry;
let packages: Packed[];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'asterism-packages-'));
  const tarballs = await packPackages(repository, join(dir, 'tarballs'));
  registry = await startRegistry({ tarballs, repository, dir: join(dir, 'third-party') });
  packages = await Promise.all(
    tarballs.map(async (tarball) => {
      const folder = await unpack(tarball, join(dir, 'unpacked', basename(tarball)));
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
      const files = globSync('**/*', { cwd: folder, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
      return { manifest, folder, files };
    }),
  );
});

after(async () => {
  await registry?.[Symbol.asyncDispose]();
  if (dir !== undefined) await rm(dir, { recursive: true, force: true });
});

/** A new project with these packages from the registry. */
async function projectWith(name: string, ...names: string[]): Promise<UserProject> {
  const project = await UserProject.create(join(dir, name), registry.url);
  await project.install(...names);
  return project;
}

/** Compiles the project's TypeScript with every check on, the packages' own declarations included. */
async function compile(project: UserProject): Promise<void> {
  await project.write('tsconfig.json', JSON.stringify(TSCONFIG));
  await project.succeed(tsc, ['-p', '.']);
}

/** What a stranger can import from a package: `.`, `./testing`, and for `./*` every folder that it stands for. */
function subpaths({ manifest, files }: Packed): string[] {
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return [];
    if (!subpath.includes('*')) return [subpath];
    const [before = '', behind = ''] = (target.default ?? '').slice('./'.length).split('*');
    return files
      .filter((file) => file.startsWith(before) && file.endsWith(behind))
      .map((file) => file.slice(before.length, -behind.length))
      .filter((name) => name !== '' && !name.includes('/'))
      .map((name) => subpath.replace('*', name));
  });
}

/** A Node that the packages are too new for, if this machine has one. */
function oldNode(): string | undefined {
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return found.find((node) => {
    if (!existsSync(node)) return false;
    return Number.parseInt(execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }), 10) < 24;
  });
}

const specifiers = (): string[] =>
  packages.flatMap((found) => subpaths(found).map((subpath) => `${found.manifest.name}${subpath.slice(1)}`));

test('a tarball holds what is run, its declarations, a README and the licence, and nothing of the workshop', () => {
  assert.equal(packages.length, globSync('packages/*/package.json', { cwd: repository }).length);
  for (const { manifest, folder, files } of packages) {
    for (const file of ['README.md', 'LICENSE', 'package.json'])
      assert.ok(files.includes(file), `${manifest.name}: ${file}`);
    const needless = files.filter(
      (file) =>
        /\.test\.|test-registry|tsbuildinfo|^src\//.test(file) || (file.endsWith('.ts') && !file.endsWith('.d.ts')),
    );
    assert.deepEqual(needless, [], manifest.name);
    const testing = files.filter((file) => file.includes('/testing/'));
    if (manifest.exports['./testing'] === undefined) assert.deepEqual(testing, [], manifest.name);
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      assert.ok(!text.includes(repository), `${manifest.name}/${file} names a folder of this machine`);
    }
  }
});

test('a source map brings its source, and a compiled file its declarations', () => {
  for (const { manifest, folder, files } of packages) {
    const compiled = files.filter((file) => /^dist\/(?!bundle\/).*\.js$/.test(file));
    assert.ok(compiled.length > 0, manifest.name);
    for (const file of compiled) {
      assert.ok(files.includes(file.replace(/\.js$/, '.d.ts')), `${manifest.name}/${file} has no declarations`);
      const map = JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8')) as { sourcesContent?: string[] };
      assert.equal(map.sourcesContent?.length, 1, `${manifest.name}/${file}.map has no source in it`);
    }
  }
});

test('a manifest says its licence, its Node and the exact version of each package of ours; types come before code', () => {
  const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
  for (const { manifest, files } of packages) {
    assert.equal(manifest.license, 'Apache-2.0');
    assert.equal(manifest.engines.node, '>=24');
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      if (name.startsWith('@asterism/')) assert.equal(version, versions.get(name), `${manifest.name} needs ${name}`);
    }
    for (const [subpath, target] of Object.entries(manifest.exports)) {
      if (typeof target === 'string') continue;
      assert.deepEqual(Object.keys(target), ['asterism-source', 'types', 'default'], `${manifest.name} ${subpath}`);
    }
    for (const bin of Object.values(manifest.bin ?? {})) assert.ok(files.includes(bin), `${manifest.name}: ${bin}`);
  }
});

test('code and declarations import only what the manifest names', () => {
  for (const { manifest, folder, files } of packages) {
    const declared = new Set([
      manifest.name,
      ...Object.keys(manifest.dependencies),
      ...Object.keys(manifest.imports ?? {}),
    ]);
    for (const file of files.filter((name) => /^(bin|dist|platform)\/.*\.(js|d\.ts)$/.test(name))) {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const [, specifier = ''] of text.matchAll(IMPORTED)) {
        const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
        assert.ok(specifier.startsWith('node:') || declared.has(name), `${manifest.name}/${file} imports ${specifier}`);
      }
    }
  }
});

test('ten lines with @asterism/client list and watch', async () => {
  const project = await projectWith('client', '@asterism/client', '@asterism/machinery', '@types/node');
  assert.deepEqual(globSync('@asterism/*', { cwd: join(project.dir, 'node_modules') }).sort(), [
    '@asterism/client',
    '@asterism/machinery',
  ]);
  await copyFile(join(users, 'list-and-watch.ts'), join(project.dir, 'list-and-watch.ts'));
  await compile(project);

  await using server = await startTestServer();
  const kubeconfig = await server.kubeconfig(join(project.dir, 'kubeconfig'));
  const configMaps = server.client.resource(CONFIG_MAPS);
  const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } });
  await configMaps.create({ ...named('sky'), data: { colour: 'blue' } });
  await using program = project.start('node', ['out/list-and-watch.js', kubeconfig]);
  await program.printed(/^listed sky: blue$/m);
  await configMaps.create(named('sea'));
  await program.printed(/^added sea$/m);
  assert.equal(await program.exit(), 0);
  assert.equal(program.stderr, '');
});

test('ten lines with @asterism/runtime are a controller, tried on the API server of @asterism/apiserver/testing', async () => {
  const project = await projectWith(
    'runtime',
    '@asterism/runtime',
    '@asterism/apiserver',
    '@asterism/machinery',
    '@types/node',
  );
  await copyFile(join(users, 'controller.ts'), join(project.dir, 'controller.ts'));
  await compile(project);
  const { stdout, stderr } = await project.succeed('node', ['out/controller.js']);
  assert.equal(stdout, 'copied settings\n');
  assert.equal(stderr, '');
});

describe('@asterism/cli and all that it brings', () => {
  let project: UserProject;

  before(async () => {
    project = await projectWith('cli', '@asterism/cli', '@types/node');
    assert.deepEqual(registry.missing, []);
  });

  test('every exported path can be imported by plain Node', async () => {
    const all = specifiers();
    assert.ok(all.includes('@asterism/fleet/api') && all.includes('@asterism/client/testing'), all.join());
    await project.write('import-all.js', all.map((specifier) => `await import('${specifier}');`).join('\n'));
    const { stderr } = await project.succeed('node', ['--disable-warning=ExperimentalWarning', 'import-all.js']);
    assert.equal(stderr, '');
  });

  test('every exported path has types that pass all checks of the compiler', async () => {
    const text = specifiers().map(
      (specifier, index) => `import * as p${index} from '${specifier}';\nvoid p${index};\n`,
    );
    await project.write('import-all.ts', text.join(''));
    await compile(project);
  });

  test('npx aster says its version', async () => {
    const { stdout, stderr } = await project.succeed('npx', ['--offline', 'aster', 'version', '--client']);
    assert.equal(stdout, `aster v${packages[0]?.manifest.version} (Node.js ${process.version})\n`);
    assert.equal(stderr, '');
  });

  test("aster keeps Node's experimental warnings to itself, and shows every other", async () => {
    const warn = (type: string): string => `process.emitWarning('about-${type}','${type}');`;
    const program = `process.once('beforeExit',()=>{${warn('ExperimentalWarning')}${warn('DeprecationWarning')}})`;
    const options = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
    const { stderr } = await project.succeed('node_modules/.bin/aster', ['version', '--client'], options);
    assert.match(stderr, /about-DeprecationWarning/);
    assert.doesNotMatch(stderr, /about-ExperimentalWarning/);
  });

  test('npx aster up is ready, serves, and stops', async () => {
    const dataDir = join(dir, 'data');
    const flags = ['--members', '1', '--data-dir', dataDir, '--listen', '127.0.0.1:0'];
    await using up = project.start('npx', ['--offline', 'aster', 'up', ...flags]);
    await up.printed(/^ready https:\/\/127\.0\.0\.1:\d+/m);
    const kubeconfig = ['--kubeconfig', join(dataDir, 'kubeconfig')];
    const { stdout } = await project.succeed('npx', [
      '--offline',
      'aster',
      'get',
      'clusters',
      '-o',
      'name',
      ...kubeconfig,
    ]);
    assert.match(stdout, /^cluster\.asterism\.dev\/alder$/m);
    up.signal('SIGINT');
    await up.exit();
    assert.match(up.stderr, /^stopping$/m);
    assert.doesNotMatch(up.stderr, /warning/i);
  });

  const old = oldNode();
  const skip = old === undefined && 'no Node.js older than 24 on this machine';
  test('on an older Node aster says what it needs, and uses the one that the project has', { skip }, async () => {
    const npx = { PATH: [join(dir, 'old'), project.environment.PATH].join(delimiter) };
    await mkdir(join(dir, 'old'));
    await symlink(old ?? '', join(dir, 'old/node'));
    const version = () => project.run('npx', ['--offline', 'aster', 'version', '--client'], npx);

    const alone = await version();
    assert.equal(alone.code, 1);
    assert.match(alone.stderr, /^aster: needs Node\.js 24 or newer, and this is v\d+\..*\n.*`npm install node@24`/m);

    const dependency = join(project.dir, 'node_modules/node');
    await mkdir(join(dependency, 'bin'), { recursive: true });
    await symlink(process.execPath, join(dependency, 'bin/node'));
    await writeFile(join(dependency, 'package.json'), `{ "version": "${process.versions.node}" }`);
    assert.deepEqual(await version(), {
      code: 0,
      stdout: `aster v${packages[0]?.manifest.version} (Node.js ${process.version})\n`,
      stderr: '',
    });

    await writeFile(join(dependency, 'package.json'), '{ "version": "20.0.0" }');
    assert.equal((await version()).code, 1);
  });
});
