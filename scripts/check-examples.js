// The examples of doc comments, type-checked: each is a program of its own, with what it uses of the packages imported, and what
// example-surroundings.ts has declared.
import { faultsOf, readImportable, withProgram } from './read-public-names.js';

/** @typedef {{ name: string, module: string, code: string }} Example */

const SURROUNDINGS = 'scripts/example-surroundings.ts';
const IMPORTED = new Map([
  ['@asterism/runtime', 'packages/runtime/src/index.ts'],
  ['@asterism/runtime/metrics', 'packages/runtime/src/metrics/index.ts'],
  ['@asterism/apiserver/testing', 'packages/apiserver/src/testing/index.ts'],
  ['@asterism/client', 'packages/client/src/index.ts'],
  ['@asterism/machinery', 'packages/machinery/src/index.ts'],
  ['#surroundings', SURROUNDINGS],
]);

const OF_NODE = new Map([
  ['fork', 'node:child_process'],
  ['hostname', 'node:os'],
  ['randomUUID', 'node:crypto'],
]);

/**
 * @param {readonly Example[]} examples
 * @returns {{ faults: string[], imports: Map<Example, string> }} what does not pass, and what a reader has to import for each
 */
export function checkExamples(examples) {
  const importable = readImportable(IMPORTED);
  for (const [name, module] of OF_NODE) importable.set(name, { module, isType: false });
  /** @type {Map<Example, string>} */
  const imports = new Map();
  /** @type {Map<string, string>} */
  const texts = new Map();
  for (const [index, example] of examples.entries()) {
    const { own, body } = split(example.code);
    const wanted = importsOf(body, own, importable);
    imports.set(example, [...own, ...wanted.filter((line) => !line.includes('#surroundings'))].join('\n'));
    const all = [...own, ...wanted].join('\n').replace('#surroundings', './example-surroundings.ts');
    texts.set(`scripts/example-${index}-${example.name}.ts`, `${all}\nexport async function example() {\n${body}\n}\n`);
  }
  return { faults: withProgram([SURROUNDINGS], texts, faultsOf), imports };
}

/** What an example imports itself, and the rest of it. @param {string} code */
function split(code) {
  const lines = code.split('\n');
  const own = lines.filter((line) => line.startsWith('import ') && line.includes(" from '") && line.endsWith("';"));
  return {
    own,
    body: lines
      .filter((line) => !own.includes(line))
      .join('\n')
      .trim(),
  };
}

/**
 * @param {string} body
 * @param {readonly string[]} own
 * @param {ReadonlyMap<string, { module: string, isType: boolean }>} importable
 * @returns {string[]}
 */
function importsOf(body, own, importable) {
  // Texts and comments name nothing, and what stands behind a dot, or before a colon, is of something else.
  const bare = body.replace(/\/\/.*|'[^'\n]*'/g, '');
  const words = [...bare.matchAll(/(?<![\w$]|(?<!\.\.)\.)[A-Za-z]\w*\b(?!\s*\??:(?!:))/g)].map(([word]) => word);
  const chosen = [...bare.matchAll(/\?\s*(\w+)\s*:/g)].map(([, word]) => word ?? '');
  /** @type {Map<string, string[]>} */
  const byModule = new Map();
  for (const word of [...new Set([...words, ...chosen])].sort((a, b) => a.localeCompare(b))) {
    const found = importable.get(word);
    if (!found || own.some((line) => line.split(/\W/).includes(word)) || declares(bare, word)) continue;
    const name = found.isType ? `type ${word}` : word;
    byModule.set(found.module, [...(byModule.get(found.module) ?? []), name]);
  }
  return [...byModule]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([module, names]) => {
      const areTypes = names.every((name) => name.startsWith('type '));
      const said = areTypes ? names.map((name) => name.replace('type ', '')) : names;
      return `import ${areTypes ? 'type ' : ''}{ ${said.join(', ')} } from '${module}';`;
    });
}

/** Whether the example itself says what that is. @param {string} text @param {string} word */
function declares(text, word) {
  // oxlint-disable-next-line asterism/linear-expression -- the text is an example of this repository
  return new RegExp(
    `\\b(?:const|let|function|class|interface|type)\\s+${word}\\b|\\bconst\\s*[{[][^}\\]]*\\b${word}\\b[^}\\]]*[}\\]]\\s*=`,
  ).test(text);
}
