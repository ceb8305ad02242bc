import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** The house, from the roof to the ground: a package imports only from those after it in this list. */
const HOUSE = [
  'dashboard',
  'cli',
  'hub',
  'agent',
  'sim',
  'fleet',
  'store',
  'apiserver',
  'tunnel',
  'runtime',
  'client',
  'machinery',
];

interface Import {
  specifier: string;
  /** Nothing is loaded with the importing module: a type, or `import()`. */
  lazy: boolean;
}

/** What a module imports. */
function importsOf(source: string): Import[] {
  const found: Import[] = [];
  for (const match of source.matchAll(
    /\b(?:import|export)( type)?\b[^;'()]*?\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g,
  )) {
    const specifier = match[2] ?? match[3] ?? match[4];
    if (specifier !== undefined) found.push({ specifier, lazy: match[1] !== undefined || match[4] !== undefined });
  }
  return found;
}

/** Tests, and what only tests load. */
const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.includes('/src/testing/');

/** Why `from` may not import `specifier`, or undefined where it may. */
function violation(from: string, specifier: string, options: { test: boolean; lazy: boolean }): string | undefined {
  const name = /^@asterism\/([a-z]+)/.exec(specifier)?.[1];
  if (name === undefined || name === from) return undefined;
  if (options.test && specifier === '@asterism/apiserver/testing') return undefined;
  if (name === 'sim') {
    if (from === 'cli' && (options.lazy || options.test)) return undefined;
    return `${from} may not import sim: only aster up does, lazily`;
  }
  if (!HOUSE.includes(name)) return `${name} is not in the house`;
  return HOUSE.indexOf(name) > HOUSE.indexOf(from) ? undefined : `${name} stands above ${from}`;
}

const sources = globSync('packages/*/{src,bin}/**/*.{ts,js}').map((file) => ({
  file,
  package: file.split('/')[1] ?? '',
  text: readFileSync(file, 'utf8'),
}));

test('every package has its place in the house, a README and a manifest', () => {
  const packages = new Set(globSync('packages/*').map((path) => path.split('/')[1] ?? ''));
  for (const name of packages) {
    assert.ok(HOUSE.includes(name), `packages/${name} is not in the design`);
    assert.ok(existsSync(`packages/${name}/README.md`), `packages/${name} has no README.md`);
    const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as { name: string };
    assert.equal(manifest.name, `@asterism/${name}`);
  }
});

test('no package imports one above it', () => {
  const violations = sources.flatMap(({ file, package: from, text }) =>
    importsOf(text).flatMap(({ specifier, lazy }) => {
      const why = violation(from, specifier, { test: isTest(file), lazy });
      return why === undefined ? [] : [`${file}: ${why}`];
    }),
  );
  assert.deepEqual(violations, []);
});

test('a package names in its manifest every package of the house that it imports, and no package above it', () => {
  for (const name of new Set(sources.map((source) => source.package))) {
    const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    const declared = Object.keys(manifest.dependencies ?? {});
    const imported = sources
      .filter((source) => source.package === name && !isTest(source.file))
      .flatMap(({ text }) => importsOf(text).map(({ specifier }) => /^@asterism\/[a-z]+/.exec(specifier)?.[0]))
      .filter((specifier) => specifier !== undefined && specifier !== `@asterism/${name}`);
    for (const specifier of imported) assert.ok(declared.includes(specifier ?? ''), `${name} imports ${specifier}`);
    for (const dependency of declared) {
      const why = violation(name, dependency, { test: false, lazy: true });
      assert.equal(why, undefined, `packages/${name}/package.json: ${why}`);
    }
  }
});

/** Folders that are built on one another, as READMEs say: a folder imports only those after it in its list. `.` is the folder itself. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  'packages/fleet/src/': [
    '.',
    'search',
    'deliver',
    'place',
    'join',
    'reach',
    'template',
    'capacity',
    'api',
    'generated',
  ],
  'packages/fleet/src/deliver/': [
    '.',
    'promote',
    'execute',
    'report',
    'member',
    'works',
    'render',
    'override',
    'pace',
    'interpret',
  ],
  'packages/apiserver/src/': [
    '.',
    'compose',
    'audit',
    'crd',
    'delegation',
    'identity-limits',
    'kubernetes-service',
    'nodes',
    'webhooks',
    'admission-plugins',
    'aggregation',
    'forward',
    'openapi',
    'discovery',
    'http',
    'authentication',
    'authorization',
    'pki',
    'controllers',
    'kinds',
    'registry',
    'cel',
    'storage',
    'contract',
  ],
  'packages/runtime/src/': [
    '.',
    'metrics',
    'apply',
    'events',
    'memory',
    'owners',
    'webhooks',
    'finalizers',
    'health',
    'providers',
    'lifecycle',
    'sharding',
    'controller',
    'cluster',
    'instruments',
    'leader',
    'cache',
    'log',
    'watch',
    'waiting',
  ],
};

for (const [root, floors] of Object.entries(FLOORS)) {
  test(`no folder of ${root} imports one above it`, () => {
    const folderOf = (file: string): string | undefined => {
      if (!file.startsWith(root)) return undefined;
      const [folder = '', ...rest] = file.slice(root.length).split('/');
      return rest.length === 0 ? '.' : folder;
    };
    const violations = sources
      .filter(({ file }) => folderOf(file) !== undefined && !isTest(file) && !file.includes('/testing/'))
      .flatMap(({ file, text }) => {
        const floor = floors.indexOf(folderOf(file) ?? '');
        assert.ok(floor >= 0, `${file} is in a folder that has no place in the list`);
        const above = floors.slice(0, floor);
        const targets = importsOf(text).map(({ specifier }) => join(dirname(file), specifier));
        return targets
          .filter((target) => above.includes(folderOf(target) ?? ''))
          .map((target) => `${file} imports ${target}`);
      });
    assert.deepEqual(violations, []);
  });
}

// `#platform` (packages/machinery/platform) is the one part that depends on the platform.
test('machinery imports no part of Node, so that it does no I/O and runs in a browser', () => {
  const offenders = sources
    .filter(({ package: name, file }) => name === 'machinery' && !isTest(file) && !file.includes('/testing/'))
    .flatMap(({ file, text }) =>
      importsOf(text)
        .filter(({ specifier }) => isBuiltin(specifier))
        .map(({ specifier }) => `${file} imports ${specifier}`),
    );
  assert.deepEqual(offenders, []);
});

/** Modules whose every name is public: the generator, or the module itself, chooses them. */
const WHOLE = ['./generated/index.ts', './builtin-resources.ts', './resource-types.ts', './kinds.ts', './names.ts'];

test('an index names what it exports', () => {
  const offenders = sources
    .filter(({ file }) => file.endsWith('/index.ts'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/^export \* from '([^']+)'/gm)]
        .filter(([, specifier = '']) => !WHOLE.includes(specifier))
        .map(([line]) => `${file}: ${line}`),
    );
  assert.deepEqual(offenders, []);
});

test('no folder is named after a kind of file', () => {
  const offenders = sources.filter(({ file }) => /\/(utils?|helpers?|common|misc|lib|types|managers?)\//.test(file));
  assert.deepEqual(
    offenders.map(({ file }) => file),
    [],
  );
});

/** Specifiers in the text of a program: of imports, of `require` and of `resolve`. */
const SPECIFIER = /\b(?:from|import|import\(|require\(|resolve\()\s*'((?:@[\w.-]+\/)?[\w-][\w.-]*)\/([^']+)'/g;

/** If a package has `exports`, Node refuses all other files. Of a package without them, files in folders are private: `undici/lib/x.js`. */
function isPrivateFile(name: string, path: string): boolean {
  const manifest = join('node_modules', name, 'package.json');
  if (!existsSync(manifest) || !path.includes('/')) return false;
  return !('exports' in (JSON.parse(readFileSync(manifest, 'utf8')) as object));
}

test('nothing imports a private file of a library', () => {
  const files = globSync('{packages/*/{src,bin,generator},bench,examples,scripts,test}/**/*.{ts,js}', {
    exclude: ['**/node_modules/**'],
  });
  const offenders = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(SPECIFIER)].flatMap(([, name = '', path = '']) =>
      isPrivateFile(name, path) ? [`${file} imports ${name}/${path}`] : [],
    ),
  );
  assert.deepEqual(offenders, []);
});

test('a server loads the CEL engine only when it needs it', () => {
  const offenders = sources.filter(
    ({ file, text }) =>
      !/\/src\/cel\/|\.test\.ts$/.test(file) && /^import (?!type )[^;]* from '[^']*\/cel\//m.test(text),
  );
  assert.deepEqual(
    offenders.map(({ file }) => file),
    [],
  );
});
