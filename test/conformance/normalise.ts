import { isJsonObject } from '@asterism/machinery';
import type { StepAnswers } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const JWT = /eyJ[\w-]*\.[\w-]+\.[\w-]+/g;
const ADDRESS = /\b\d+\.\d+\.\d+\.\d+:\d+/g;
const SERVICE_IP = /\b10\.0\.\d+\.\d+\b/g;
const NODE_PORT = /:(3\d{4})\//g;
const AGE = /^(?:<invalid>|(?:\d+[ydhms])+)$/;
const VERSION_IN_TEXT =
  /(\\*"resourceVersion\\*":\\*"|resourceVersion: "|resource version: |current: |ResourceVersion in object meta: |ResourceVersion in record \()\d+/g;
/** What names are cut at before five characters are added. */
const GENERATE_LENGTH = 58;

/**
 * The answers of a scenario without what may differ from one server to another: uids, times, versions, generated names and
 * the like, by the rules that README.md tells. Equal servers give equal results.
 */
export function normalise(scenario: Scenario, steps: readonly StepAnswers[]): unknown[] {
  const answers = steps.map(({ answers: given, events }) => sorted({ answers: given, events }));
  return new Normaliser(JSON.stringify(requestsOf(scenario)), answers).run();
}

function requestsOf({ steps }: Scenario): unknown[] {
  return steps.map((step) => {
    if ('watch' in step) return [step.watch, step.during?.map((each) => ('request' in each ? each.request : each))];
    return 'request' in step ? step.request : step;
  });
}

class Normaliser {
  readonly #requests: string;
  readonly #answers: readonly unknown[];
  readonly #ranks = new Map<string, number>();
  readonly #generated = new Map<string, string>();
  readonly #uids = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  /** The newest version of an object that was met so far. */
  #newest = 0n;

  constructor(requests: string, answers: readonly unknown[]) {
    this.#requests = requests;
    this.#answers = answers;
  }

  run(): unknown[] {
    const versions = new Set<string>();
    for (const answer of this.#answers) this.#collect(answer, versions);
    const ordered = [...versions].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    for (const [rank, version] of ordered.entries()) this.#ranks.set(version, rank);
    return this.#answers.map((answer) => this.#value(answer, ''));
  }

  /** What must be known of all answers before the first is changed. */
  #collect(value: unknown, versions: Set<string>): void {
    if (Array.isArray(value)) for (const item of value) this.#collect(item, versions);
    if (!isJsonObject(value)) return;
    const { name, generateName } = value;
    if (hasOwnVersion(value)) versions.add(value.resourceVersion);
    if (typeof name === 'string' && typeof generateName === 'string') this.#collectName(name, generateName);
    for (const item of Object.values(value)) this.#collect(item, versions);
  }

  #collectName(name: string, generateName: string): void {
    const base = generateName.slice(0, GENERATE_LENGTH);
    if (!name.startsWith(base) || name.length !== base.length + 5 || this.#generated.has(name)) return;
    this.#generated.set(name, `${base}<generated-${this.#generated.size}>`);
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === 'string') return key === 'continue' && value !== '' ? '<continue>' : this.#text(value);
    if (typeof value === 'number') return this.#isPort(key, String(value)) ? '<port>' : value;
    if (Array.isArray(value)) return value.map((item) => (key === 'cells' ? this.#cell(item) : this.#value(item, '')));
    if (!isJsonObject(value)) return value;
    if ('gitVersion' in value && 'goVersion' in value) return Object.keys(value);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#field(value, name, item)]));
  }

  #field(holder: Record<string, unknown>, name: string, value: unknown): unknown {
    if (name === 'etag') return '<etag>';
    if (name !== 'resourceVersion' || typeof value !== 'string' || !/^\d+$/.test(value))
      return this.#value(value, name);
    const version = BigInt(value);
    if (hasOwnVersion(holder)) {
      if (version > this.#newest) this.#newest = version;
      return `<version-${this.#ranks.get(value)}>`;
    }
    return version > 0n && version < this.#newest ? '<an older version>' : '<version>';
  }

  #cell(cell: unknown): unknown {
    return typeof cell === 'string' && AGE.test(cell) ? '<age>' : this.#value(cell, '');
  }

  #isPort(key: string, port: string): boolean {
    return (key === 'nodePort' || key === 'healthCheckNodePort') && !this.#requests.includes(port);
  }

  #text(text: string): string {
    let result = text;
    for (const [name, shown] of this.#generated) result = result.replaceAll(name, shown);
    const unlessSent = (found: string, shown: string): string => (this.#requests.includes(found) ? found : shown);
    return result
      .replace(JWT, '<token>')
      .replace(UUID, (uid) => (this.#requests.includes(uid) ? uid : numbered(this.#uids, uid, 'uid')))
      .replace(TIME, (time) => unlessSent(time, '<time>'))
      .replace(VERSION_IN_TEXT, (_, before: string) => `${before}<version>`)
      .replace(ADDRESS, (address) => unlessSent(address, '<address>'))
      .replace(SERVICE_IP, (ip) => (this.#requests.includes(ip) ? ip : numbered(this.#addresses, ip, 'ip')))
      .replace(NODE_PORT, (found, port: string) => (this.#requests.includes(port) ? found : ':<port>/'));
  }
}

function hasOwnVersion(value: Record<string, unknown>): value is { resourceVersion: string } {
  const { resourceVersion } = value;
  return ('name' in value || 'uid' in value) && typeof resourceVersion === 'string' && /^\d+$/.test(resourceVersion);
}

function numbered(known: Map<string, string>, value: string, word: string): string {
  const found = known.get(value) ?? `<${word}-${known.size}>`;
  known.set(value, found);
  return found;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
