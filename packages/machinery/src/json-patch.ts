import { deepEqual } from './deep-equal.ts';
import { copyInSteps } from './copy-in-steps.ts';
import type { Steps } from './finish-steps.ts';
import { isJsonObject, ownMember, setMember } from './json-object.ts';
import { parseJson } from './parse-json.ts';
import { badRequest, failure } from './status.ts';

/*
 * RFC 6902 as a kube-apiserver understands it, which is not quite as the RFC has it (recorded from 1.36):
 *
 *   K1  a missing member of an object reads as null, so it can be replaced, copied and tested for null;
 *   K2  an operation without `value` means null;
 *   K3  a negative index counts from the end of the array;
 *   K4  a path is cut at its slashes and the first piece is dropped, whatever it is;
 *   K5  whatever cannot be applied is one and the same 422; the reason is the error's `cause`.
 */

export interface JsonPatchOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: unknown;
}

/** Limits of a kube-apiserver: operations in a patch, and characters of JSON that `copy` may add in all. */
const MAX_OPERATIONS = 10_000;
const MAX_COPIED = 3 * 1024 * 1024;
/** Items that may be moved in all where operations insert into lists and remove from them: ten thousand times the head of 5,000. */
const MAX_MOVED = 50_000_000;

type Container = Record<string, unknown> | unknown[];

interface Patching {
  root: unknown;
  /** Containers that this patching has made: only these may be changed. */
  made: WeakSet<Container>;
  copied: number;
  moved: number;
}

/**
 * A document that many operations are applied to, one after the other. Each container on the path of an operation is copied once, however
 * many operations reach into it, so that a thousand operations on a large document cost little more than one. The document that was given
 * is never changed.
 */
export class JsonPatchedDocument {
  readonly #patching: Patching;

  constructor(document: unknown) {
    this.#patching = { root: document, made: new WeakSet(), copied: 0, moved: 0 };
  }

  /** The document so far. Later operations change it. */
  get value(): unknown {
    return this.#patching.root;
  }

  /** Copies in steps what {@link apply} of this operation would copy at once: the containers that it reaches into. */
  *prepare({ op, path, from }: JsonPatchOperation): Steps<void> {
    if (op === 'test') return;
    yield* ownInSteps(this.#patching, path);
    if (op === 'move' && from !== undefined) yield* ownInSteps(this.#patching, from);
  }

  /** @throws StatusError as {@link applyJsonPatch}. The document is then as it was before. */
  apply(operation: JsonPatchOperation): void {
    applyOperation(this.#patching, { ...operation });
  }
}

/**
 * Applies a JSON patch and returns the new document. Neither argument is changed; what no operation reaches into is shared with
 * them, not copied.
 *
 * @throws StatusError 400 where `operations` is no list of operations, 413 where there are more than 10,000, 422 where one
 * of them cannot be applied or its test fails.
 */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  const list = decodeOperations(operations);
  const patching: Patching = { root: document, made: new WeakSet(), copied: 0, moved: 0 };
  for (const operation of list) applyOperation(patching, operation);
  return patching.root;
}

function decodeOperations(operations: unknown): Record<string, unknown>[] {
  if (operations === null) return [];
  if (!Array.isArray(operations)) throw undecodable(operations, 'value of type []handlers.jsonPatchOp');
  for (const operation of operations) {
    if (operation === null) continue;
    if (!isJsonObject(operation)) throw undecodable(operation, 'value of type handlers.jsonPatchOp');
    for (const field of ['op', 'path', 'from']) {
      const value = operation[field] ?? '';
      if (typeof value !== 'string') throw undecodable(value, `struct field jsonPatchOp.${field} of type string`);
    }
  }
  if (operations.length > MAX_OPERATIONS) {
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`;
    throw failure(413, message);
  }
  return operations.map((operation: Record<string, unknown> | null) => operation ?? {});
}

function applyOperation(patching: Patching, operation: Record<string, unknown>): void {
  const value = operation['value'] ?? null;
  switch (operation['op']) {
    case 'add':
      return add(patching, writable(patching, operation, 'path'), value);
    case 'remove':
      return remove(patching, writable(patching, operation, 'path'));
    case 'replace':
      return replace(patching, operation, value);
    case 'move': {
      const from = writable(patching, operation, 'from');
      const moved = read(from);
      remove(patching, from);
      try {
        return add(patching, writable(patching, operation, 'path'), moved);
      } catch (error) {
        add(patching, from, moved);
        throw error;
      }
    }
    case 'copy':
      return copy(patching, operation);
    case 'test':
      return test(patching, operation, value);
    default:
      throw inapplicable(`there is no operation ${JSON.stringify(operation['op'])}`);
  }
}

function replace(patching: Patching, operation: Record<string, unknown>, value: unknown): void {
  if (operation['path'] === '') {
    if (typeof value !== 'object' || value === null) throw inapplicable('the whole document can only become an object');
    patching.root = value;
    return;
  }
  const { container, key, path } = writable(patching, operation, 'path');
  if (Array.isArray(container)) container[indexIn(container, key, path)] = value;
  else setMember(container, key, value);
}

function copy(patching: Patching, operation: Record<string, unknown>): void {
  const value = read(target(patching, operation, 'from'));
  const to = writable(patching, operation, 'path');
  const text = JSON.stringify(value);
  patching.copied += text.length;
  if (patching.copied > MAX_COPIED) throw inapplicable(`copies more than ${MAX_COPIED} characters`);
  add(patching, to, parseJson(text)); // Not the same one in two places: what we have made is changed where it stands.
}

function test(patching: Patching, operation: Record<string, unknown>, expected: unknown): void {
  const path = operation['path'];
  const found = path === '' ? patching.root : read(target(patching, operation, 'path'));
  if (!deepEqual(found, expected)) throw inapplicable(`the test of ${JSON.stringify(path)} failed`);
}

/** A path: the keys of the containers above, and the last one. */
interface Location {
  keys: string[];
  key: string;
  path: string;
}

function locate(operation: Record<string, unknown>, field: 'path' | 'from'): Location {
  const path = operation[field];
  if (typeof path !== 'string') throw inapplicable(`${JSON.stringify(operation['op'])} has no ${field}`);
  const keys = piecesOf(path);
  const key = keys.pop();
  if (key === undefined) throw inapplicable(`${JSON.stringify(path)} does not point into the document`);
  return { keys, key, path };
}

function nothingAbove(path: string): Error {
  return inapplicable(`nothing stands at the parent of ${JSON.stringify(path)}`);
}

interface Target {
  container: Container;
  key: string;
  path: string;
}

/** The container that a path's last piece stands in. */
function target({ root }: Patching, operation: Record<string, unknown>, field: 'path' | 'from'): Target {
  const { keys, ...last } = locate(operation, field);
  let container = root;
  for (const key of keys) {
    if (!isContainer(container)) break;
    container = read({ container, key, path: last.path });
  }
  if (!isContainer(container)) throw nothingAbove(last.path);
  return { container, ...last };
}

/** The same, where it may be changed: the containers on the path that were given to us are replaced by copies. */
function writable(patching: Patching, operation: Record<string, unknown>, field: 'path' | 'from'): Target {
  const { keys, ...last } = locate(operation, field);
  if (!isContainer(patching.root)) throw nothingAbove(last.path);
  let container = own(patching, patching.root);
  patching.root = container;
  for (const key of keys) {
    const child = read({ container, key, path: last.path });
    if (!isContainer(child)) throw nothingAbove(last.path);
    const copy = own(patching, child);
    if (Array.isArray(container)) container[indexIn(container, key, last.path)] = copy;
    else setMember(container, key, copy);
    container = copy;
  }
  return { container, ...last };
}

function own(patching: Patching, container: Container): Container {
  if (patching.made.has(container)) return container;
  const copy = Array.isArray(container) ? [...container] : { ...container };
  patching.made.add(copy);
  return copy;
}

/** What {@link writable} does for a path, as far as its containers exist. */
function* ownInSteps(patching: Patching, path: string): Steps<void> {
  const keys = piecesOf(path);
  let container = patching.root;
  let attach = (copy: Container): void => void (patching.root = copy);
  for (const key of keys) {
    if (!isContainer(container)) return;
    if (!patching.made.has(container)) {
      container = Array.isArray(container) ? [...container] : yield* copyInSteps(container as Record<string, unknown>);
      patching.made.add(container as Container);
      attach(container as Container);
    }
    const holder = container as Container;
    container = Array.isArray(holder) ? holder[Number(key)] : ownMember(holder, key);
    attach = (copy) => {
      if (Array.isArray(holder)) holder[Number(key)] = copy;
      else setMember(holder, key, copy);
    };
  }
}

function piecesOf(path: string): string[] {
  const [, ...keys] = path.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function read({ container, key, path }: Target): unknown {
  if (Array.isArray(container)) return container[indexIn(container, key, path)];
  return ownMember(container, key) ?? null;
}

function add(patching: Patching, { container, key, path }: Target, value: unknown): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else {
    const at = index(key, container.length + 1, path);
    noteMoved(patching, container.length - at);
    container.splice(at, 0, value);
  }
}

/** Throws 413 where a list is moved to and fro too often. */
function noteMoved(patching: Patching, items: number): void {
  patching.moved += items;
  if (patching.moved <= MAX_MOVED) return;
  throw failure(413, `Request entity too large: the operations of a JSON patch may move ${MAX_MOVED} items of lists`);
}

function remove(patching: Patching, { container, key, path }: Target): void {
  if (Array.isArray(container)) {
    const at = indexIn(container, key, path);
    noteMoved(patching, container.length - at);
    container.splice(at, 1);
  } else if (Object.hasOwn(container, key)) delete container[key];
  else throw inapplicable(`nothing stands at ${JSON.stringify(path)}`);
}

function indexIn(array: unknown[], key: string, path: string): number {
  return index(key, array.length, path);
}

function index(key: string, length: number, path: string): number {
  const number = /^[+-]?\d+$/.test(key) ? Number(key) : Number.NaN;
  const at = number < 0 ? number + length : number;
  if (!(at >= 0 && at < length)) throw inapplicable(`${JSON.stringify(path)} is not in the array`);
  return at;
}

function undecodable(value: unknown, what: string): Error {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return badRequest(`error decoding patch: json: cannot unmarshal ${kind} into Go ${what}`);
}

function inapplicable(why: string): Error {
  return failure(422, 'the server rejected our request due to an error in our request', {
    details: {},
    cause: new Error(`JSON patch: ${why}`),
  });
}
