// What a package exports, and what its doc comments say, as the compiler itself reads them. TypeScript 7 calls this part of its
// interface unstable; the version is pinned.
import { fileURLToPath } from 'node:url';
import { API, DiagnosticCategory, SymbolFlags } from 'typescript/unstable/sync';
import {
  isClassDeclaration,
  isExportDeclaration,
  isExportSpecifier,
  isFunctionDeclaration,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';

/** @typedef {import('typescript/unstable/sync').Project} Project */
/** @typedef {import('typescript/unstable/ast').Node} Node */
/** @typedef {import('typescript/unstable/sync').Symbol} Symbol */

/**
 * A public name.
 *
 * @typedef {object} PublicName
 * @property {string} name
 * @property {string} module what it is imported from
 * @property {string} file where it is declared, from the root of the repository
 * @property {string} doc
 * @property {{ name: string, text: string }[]} tags
 * @property {string} declaration as a caller sees it
 * @property {boolean} isType it is there for the compiler alone
 */

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Calls back with a program of these files and those given as text, which stand nowhere on the disk.
 *
 * @template T
 * @param {readonly string[]} files
 * @param {ReadonlyMap<string, string>} texts
 * @param {(project: Project) => T} use
 * @returns {T}
 */
export function withProgram(files, texts, use) {
  const config = `${root}tsconfig.reference.json`;
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  const content = { extends: './tsconfig.json', compilerOptions, include: [], files: [...files, ...texts.keys()] };
  const there = new Map([[config, JSON.stringify(content)]]);
  for (const [file, text] of texts) there.set(root + file, text);
  const fs = {
    readFile: (/** @type {string} */ file) => there.get(file),
    fileExists: (/** @type {string} */ file) => (there.has(file) ? true : undefined),
  };
  const api = new API({ cwd: root, fs });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    if (!project) throw new Error('the compiler has made no program');
    return use(project);
  } finally {
    api.close();
  }
}

/**
 * @param {ReadonlyMap<string, string>} modules by what they are imported as, where they are
 * @returns {PublicName[]} each name once, from the first module that has it
 */
export function readPublicNames(modules) {
  return withProgram([...modules.values()], new Map(), (project) => {
    /** @type {Map<string, PublicName>} */
    const names = new Map();
    for (const [module, file] of modules) {
      for (const [name, { symbol, isType }] of exportsOf(project, file)) {
        const key = `${name} ${symbol.id}`;
        if (!names.has(key)) names.set(key, publicName(project, { name, module, symbol, isType }));
      }
    }
    return [...names.values()];
  });
}

/**
 * What a module exports: what it stands for, and whether it is there for the compiler alone.
 *
 * @param {Project} project
 * @param {string} file
 * @returns {[name: string, found: { symbol: Symbol, isType: boolean }][]}
 */
function exportsOf(project, file) {
  const { program, checker } = project;
  const source = program.getSourceFile(root + file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${file} is no module`);
  return checker.getExportsOfModule(module).map((each) => {
    const symbol = each.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each;
    const isType = !(symbol.flags & SymbolFlags.Value) || each.declarations.some((at) => saysType(at.resolve(project)));
    return [each.name, { symbol, isType }];
  });
}

/** Of `export { type X }` and `export type { X }`. @param {Node | undefined} node */
function saysType(node) {
  if (!node || !isExportSpecifier(node)) return false;
  return node.isTypeOnly || isTypeOnlyExport(node.parent.parent);
}

/** @param {Node} node */
function isTypeOnlyExport(node) {
  return isExportDeclaration(node) && node.isTypeOnly;
}

/**
 * @param {ReadonlyMap<string, string>} modules
 * @returns {Map<string, { module: string, isType: boolean }>} by name, what it is imported from
 */
export function readImportable(modules) {
  return withProgram([...modules.values()], new Map(), (project) => {
    /** @type {Map<string, { module: string, isType: boolean }>} */
    const found = new Map();
    for (const [module, file] of modules) {
      for (const [name, { isType }] of exportsOf(project, file)) {
        if (!found.has(name)) found.set(name, { module, isType });
      }
    }
    return found;
  });
}

/** @param {Project} project @returns {string[]} what is wrong with the program, one line for each */
export function faultsOf({ program }) {
  const found = [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()];
  const errors = found.filter(({ category }) => category === DiagnosticCategory.Error);
  return errors.map(({ fileName, pos, text, messageText }) => {
    const source = fileName ? program.getSourceFile(fileName) : undefined;
    const line = (source?.text.slice(0, pos).split('\n').length ?? 1) - 1;
    return `${fileName?.replace(root, '')}: ${source?.text.split('\n')[line]?.trim()}: ${text ?? messageText}`;
  });
}

/**
 * @param {Project} project
 * @param {{ name: string, module: string, symbol: Symbol, isType: boolean }} found
 * @returns {PublicName}
 */
function publicName(project, { name, module, symbol, isType }) {
  const { checker } = project;
  const nodes = symbol.declarations.flatMap((handle) => handle.resolve(project) ?? []);
  const [first] = nodes;
  if (!first) throw new Error(`${name} is declared nowhere`);
  return {
    name,
    module,
    file: first.getSourceFile().fileName.replace(root, ''),
    doc: nodes.map(commentOf).find((text) => text !== '') ?? '',
    tags: symbol.getJsDocTags(checker).map((tag) => ({ name: tag.name, text: textOf(tag.text) })),
    declaration: visible(nodes)
      .map((node) => declarationOf(node, symbol, project))
      .join('\n'),
    isType,
  };
}

/** Of an overloaded function the signatures alone. @param {readonly Node[]} nodes */
function visible(nodes) {
  const bodiless = nodes.filter((node) => isFunctionDeclaration(node) && node.body === undefined);
  return bodiless.length > 0 ? bodiless : nodes;
}

/** What its comment says before its first tag, with the links in it, which the compiler would leave out. @param {Node} node */
function commentOf(node) {
  const [comment] = (isVariableDeclaration(node) ? node.parent.parent : node).jsDoc?.slice(-1) ?? [];
  if (!comment) return '';
  const lines = node
    .getSourceFile()
    .text.slice(comment.pos, comment.end)
    .trim()
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n');
  const said = lines.map((line) => line.replace(/^ *\* ?/, ''));
  const tag = said.findIndex((line) => /^ ?@/.test(line));
  return (tag < 0 ? said : said.slice(0, tag)).join('\n').trim();
}

/** @param {string | readonly { text: string }[] | undefined} text */
function textOf(text) {
  return typeof text === 'string' ? text : (text ?? []).map((part) => part.text).join('');
}

/** @param {Node} node @param {Symbol} symbol @param {Project} project @returns {string} */
function declarationOf(node, symbol, { checker }) {
  const { text } = node.getSourceFile();
  if (isVariableDeclaration(node)) {
    const type = checker.getTypeOfSymbol(symbol);
    return `const ${symbol.name}: ${type ? checker.typeToString(type, node) : 'unknown'};`;
  }
  if (isFunctionDeclaration(node)) return `${withoutExport(upTo(text, node, node.body))};`;
  if (!isClassDeclaration(node)) return withoutExport(text.slice(node.getStart(), node.end));
  const members = node.members.filter(
    (member) => !member.getText().match(/^(?:\/\*[^]*?\*\/\s*)?(?:readonly |get |async |static )*#|^private /),
  );
  const head = withoutExport(text.slice(node.getStart(), text.indexOf('{', heritageEnd(node)) + 1));
  return [head, ...members.map((member) => memberOf(member, checker)), '}'].join('\n');
}

/** Where the name, the type parameters and what it extends end. @param {import('typescript/unstable/ast').ClassDeclaration} node */
function heritageEnd(node) {
  return Math.max(node.name?.end ?? 0, node.typeParameters?.end ?? 0, node.heritageClauses?.end ?? 0);
}

/** A member with its comment, without what it does. @param {Node} member @param {import('typescript/unstable/sync').Checker} checker */
function memberOf(member, checker) {
  const { text } = member.getSourceFile();
  const { body, type, initializer } = /** @type {{ body?: Node, type?: Node, initializer?: Node }} */ (
    /** @type {unknown} */ (member)
  );
  const comment = text.slice(member.pos, member.getStart()).trim();
  const end = initializer && text.lastIndexOf('=', initializer.getStart());
  const head = text.slice(member.getStart(), type?.end ?? end ?? body?.pos ?? member.end).trim();
  const found = initializer && !type ? checker.getTypeAtLocation(member) : undefined;
  const signature = found ? `${head}: ${checker.typeToString(found, member)}` : head;
  const lines = [comment, `${signature.replace(/^(override|async) |;$/g, '')};`].filter((part) => part !== '');
  return lines.map((part) => `  ${part}`).join('\n');
}

/** @param {string} text @param {Node} node @param {Node | undefined} body */
function upTo(text, node, body) {
  return text
    .slice(node.getStart(), body?.pos ?? node.end)
    .trim()
    .replace(/;$/, '');
}

/** @param {string} text */
function withoutExport(text) {
  return text
    .replace(/^export /, '')
    .replace(/^async /, '')
    .trim();
}
