// The reference of the packages that operators are written with, from their doc comments. Every public name has one, and an example
// that passes the compiler.
import { checkExamples } from './check-examples.js';
import { readPublicNames } from './read-public-names.js';

/** @typedef {import('./read-public-names.js').PublicName} PublicName */

const HEADER = '<!-- Generated from doc comments by `npm run generate`. Do not edit. -->\n';
const FOLDER = 'runtime/';

const MODULES = new Map([
  ['@asterism/runtime', 'packages/runtime/src/index.ts'],
  ['@asterism/runtime/metrics', 'packages/runtime/src/metrics/index.ts'],
  ['@asterism/apiserver/testing', 'packages/apiserver/src/testing/index.ts'],
]);

/** The pages, and which files' names stand on them: the first that fits. @type {[page: string, title: string, files: RegExp][]} */
const PAGES = [
  ['testing.md', 'A test environment', /^packages\/apiserver\//],
  ['webhooks.md', 'Webhooks', /\/webhooks\//],
  ['providers.md', 'Which clusters there are', /\/providers\/|\/cluster\/|\/cluster-health\.ts/],
  ['sharing.md', 'Leader election and sharding', /\/(sharding|leader)\//],
  ['owning.md', 'Owning, cleaning up, applying, telling', /\/(owners|finalizers|apply|events)\//],
  ['observing.md', 'Metrics, probes, logs, memory', /\/(metrics|instruments|health|log|memory)\//],
  ['watching.md', 'Watching and caching', /\/(cache|watch|waiting)\//],
  ['controllers.md', 'Managers and controllers', /./],
];

/** @returns {{ pages: Map<string, string>, faults: string[] }} by path below docs/reference, and what keeps them from being made */
export function runtimePages() {
  // What one calls before what it is called with.
  const names = readPublicNames(MODULES).sort((a, b) => Number(a.isType) - Number(b.isType));
  const examples = names.flatMap((each) =>
    codeOf(each).map((code) => ({ name: each.name, module: each.module, code })),
  );
  const { faults, imports } = checkExamples(examples);
  const places = placesOf(names);
  const said = names.flatMap((each) => faultsOf(each, names));
  const imported = (/** @type {string} */ code) => {
    const example = examples.find((each) => each.code === code);
    return example ? (imports.get(example) ?? '') : '';
  };
  const pages = new Map([[`${FOLDER}README.md`, indexPage(names, places)]]);
  for (const [page, title] of PAGES) {
    const own = names.filter((each) => pageOf(each) === page);
    const sections = own.map((each) => sectionOf(each, { page, places, imported }));
    pages.set(FOLDER + page, `${HEADER}\n# ${title}\n\n${sections.join('\n')}`);
  }
  return { pages, faults: [...said, ...faults] };
}

/** The code of its examples. @param {PublicName} name */
function codeOf({ tags }) {
  return examplesOf(tags).flatMap((text) => {
    const start = text.indexOf('```ts\n');
    const end = text.indexOf('\n```', start + 5);
    return start < 0 || end < 0 ? [] : [text.slice(start + 6, end)];
  });
}

/** The names whose examples it shares. @param {PublicName} name */
function sharedBy({ tags }) {
  return examplesOf(tags).flatMap((text) => [...text.matchAll(/\{@link (\w+)\}/g)].map(([, link = '']) => link));
}

/** @param {PublicName['tags']} tags */
function examplesOf(tags) {
  return tags.filter(({ name }) => name === 'example').map(({ text }) => text);
}

/** @param {PublicName} each @param {readonly PublicName[]} names @returns {string[]} */
function faultsOf(each, names) {
  const where = `${each.file}: ${each.name}`;
  if (each.doc.trim() === '') return [`${where} has no doc comment`];
  if (codeOf(each).length > 0) return [];
  const shared = sharedBy(each);
  if (shared.length === 0) return [`${where} has no @example`];
  if (!each.isType) return [`${where} is no type: it needs an @example of its own`];
  const without = shared.filter((name) => !names.some((other) => other.name === name && codeOf(other).length > 0));
  return without.map((name) => `${where} shares the @example of ${name}, which has none`);
}

/** @param {PublicName} name */
function pageOf({ file }) {
  return PAGES.find(([, , files]) => files.test(file))?.[0] ?? '';
}

/** Where each name's section is. @param {readonly PublicName[]} names */
function placesOf(names) {
  return new Map(
    names.map((each) => [
      each,
      `${pageOf(each)}#${headingOf(each, names).toLowerCase().replace(/[()]/g, '').replace(' ', '-')}`,
    ]),
  );
}

/** Headings that differ by case alone would have one anchor. @param {PublicName} each @param {Iterable<PublicName>} names */
function headingOf(each, names) {
  const name = each.name.toLowerCase();
  const isShared = [...names].some(
    (other) => other !== each && other.name.toLowerCase() === name && pageOf(other) === pageOf(each),
  );
  return isShared && each.isType ? `${each.name} (type)` : each.name;
}

/** @param {readonly PublicName[]} names @param {ReadonlyMap<PublicName, string>} places */
function indexPage(names, places) {
  const groups = [...PAGES].reverse().map(([page, title]) => {
    const rows = names
      .filter((each) => pageOf(each) === page)
      .map(
        (each) => `| [\`${each.name}\`](${places.get(each)}) | ${cell(firstSentence(linked(each.doc, places, '')))} |`,
      );
    return `## [${title}](${page})\n\n| name | what |\n|---|---|\n${rows.join('\n')}\n`;
  });
  return `${HEADER}
# @asterism/runtime

Every public name of [\`@asterism/runtime\`](../../../packages/runtime/README.md), of its module \`@asterism/runtime/metrics\`, and of
\`@asterism/apiserver/testing\`. The examples pass the compiler; \`client\`, \`manager\`, \`logger\` and the like stand for what you have of them.

${groups.join('\n')}`;
}

/** @typedef {{ page: string, places: ReadonlyMap<PublicName, string>, imported: (code: string) => string }} Page */

/** @param {PublicName} each @param {Page} page */
function sectionOf(each, { page, places, imported }) {
  const parts = [`## ${headingOf(each, places.keys())}`, paragraphs(linked(each.doc, places, page))];
  for (const { name, text } of each.tags) {
    if (name === 'throws') parts.push(`**Throws** ${linked(text, places, page)}`);
    if (name === 'returns') parts.push(`**Returns** ${linked(text, places, page)}`);
    if (name === 'param') parts.push(`- ${linked(text, places, page)}`);
  }
  parts.push(
    `\`\`\`ts\n${each.module === '@asterism/runtime' ? '' : `// ${each.module}\n`}${withoutExamples(each.declaration)}\n\`\`\``,
  );
  for (const code of codeOf(each)) {
    const imports = imported(code);
    const body = code
      .split('\n')
      .filter((line) => !imports.split('\n').includes(line))
      .join('\n')
      .trim();
    parts.push(`Example:\n\n\`\`\`ts\n${imports ? `${imports}\n\n` : ''}${body}\n\`\`\``);
  }
  const shared = sharedBy(each).map((name) => linked(`{@link ${name}}`, places, page));
  if (shared.length > 0) parts.push(`Example: ${shared.join(', ')}`);
  return `${parts.join('\n\n')}\n`;
}

/** Rules, each a line that begins with its number, as a list. @param {string} doc */
function paragraphs(doc) {
  return doc.replace(/^([A-Z]\d+) +/gm, '- **$1** ').trim();
}

/** @param {string} declaration */
function withoutExamples(declaration) {
  // oxlint-disable-next-line asterism/linear-expression -- the text is a comment of this repository
  const text = declaration.replace(/ *\* @example[^]*?(?=\n *\*\/|\n *\* @)/g, ' *');
  return text.replace(/\{@link ([\w.]+)\}/g, '`$1`');
}

/** @param {string} text @param {ReadonlyMap<PublicName, string>} places @param {string} page */
function linked(text, places, page) {
  return text.replace(/\{@link (\w+)(?:\.\w+)?\}/g, (whole, name) => {
    const found = [...places].filter(([each]) => each.name === name);
    // Of a type and a function of one name, the function.
    const [, place] = found.find(([{ isType }]) => !isType) ?? found[0] ?? [];
    const said = whole.slice('{@link '.length, -1);
    if (place === undefined) return `\`${said}\``;
    return `[\`${said}\`](${place.startsWith(`${page}#`) ? place.slice(page.length) : place})`;
  });
}

/** @param {string} text */
function firstSentence(text) {
  const [first = ''] = text.replace(/\s+/g, ' ').split(/(?<=[.:])(?: |$)/);
  return first.replace(/[.:]$/, '');
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|');
}
