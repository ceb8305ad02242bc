import { parseJson, validateLabels } from '@asterism/machinery';
import { isReservedLabel, TOKEN_FACTS_GROUP_PREFIX } from '../../api/index.ts';
import { type ApprovalRule, matchesPattern } from '../configuration/approval-rules.ts';

/** What policies select clusters by. A joining cluster only asks for it: a token, a rule or an administrator gives it. */
export interface PlacementFacts {
  labels?: Readonly<Record<string, string>> | undefined;
  provider?: string | undefined;
  region?: string | undefined;
  zones?: readonly string[] | undefined;
}

/** Bytes of the facts in one token; characters of one group, of which Kubernetes takes 256. */
const MAX_TOKEN_FACTS = 1024;
const CHUNK = 200;
const MAX_FIELD = 253;
const MAX_ZONES = 64;

/** Why these facts cannot be given to a Cluster, by anybody; undefined if they can. */
export function placementFactsFault({ labels = {}, provider, region, zones = [] }: PlacementFacts): string | undefined {
  const reserved = Object.keys(labels).find(isReservedLabel);
  if (reserved !== undefined) return `label ${reserved} is reserved for the hub`;
  const [invalid] = validateLabels({ ...labels }, 'labels');
  if (invalid) return `${invalid.field}: ${invalid.message}`;
  const fields = [
    ['provider', provider] as const,
    ['region', region] as const,
    ...zones.map((zone) => ['zone', zone] as const),
  ];
  const faulty = fields.find(([, value]) => value !== undefined && (value === '' || value.length > MAX_FIELD));
  if (faulty) return `${faulty[0]}: it must have 1 to ${MAX_FIELD} characters`;
  return zones.length > MAX_ZONES ? `zones: at most ${MAX_ZONES}` : undefined;
}

/**
 * The groups by which a bootstrap token carries the facts. The API server attests the groups of a token in each certificate request
 * that is made with it, so the hub needs no right to read tokens.
 *
 * @throws RangeError if the facts are longer than a token may carry
 */
export function tokenFactsGroups(facts: PlacementFacts): string[] {
  const given = withoutEmpty(facts);
  if (Object.keys(given).length === 0) return [];
  const bytes = Buffer.from(JSON.stringify(given));
  if (bytes.length > MAX_TOKEN_FACTS) {
    throw new RangeError(
      `labels, provider, region and zones of a token take at most ${MAX_TOKEN_FACTS} bytes together`,
    );
  }
  const text = bytes.toString('hex');
  const count = Math.ceil(text.length / CHUNK);
  return Array.from({ length: count }, (_, index) => {
    return `${TOKEN_FACTS_GROUP_PREFIX}${index}:${text.slice(index * CHUNK, (index + 1) * CHUNK)}`;
  });
}

/** The inverse of {@link tokenFactsGroups}. Groups that do not hold facts give none. */
export function tokenFacts(groups: readonly string[]): PlacementFacts {
  const chunks = new Map<number, string>();
  for (const group of groups) {
    if (!group.startsWith(TOKEN_FACTS_GROUP_PREFIX)) continue;
    const [index = '', text = ''] = group.slice(TOKEN_FACTS_GROUP_PREFIX.length).split(':');
    if (/^\d{1,2}$/.test(index)) chunks.set(Number(index), text);
  }
  if (chunks.size === 0) return {};
  const text = Array.from({ length: chunks.size }, (_, index) => chunks.get(index) ?? '').join('');
  const facts = readFacts(Buffer.from(text, 'hex').toString());
  return placementFactsFault(facts) === undefined ? facts : {};
}

function readFacts(text: string): PlacementFacts {
  let read: unknown;
  try {
    read = parseJson(text);
  } catch {
    return {};
  }
  const { labels, provider, region, zones } = (read ?? {}) as Record<string, unknown>;
  const isText = (value: unknown): value is string => typeof value === 'string';
  const isMap = typeof labels === 'object' && labels !== null && Object.values(labels).every(isText);
  return withoutEmpty({
    labels: isMap ? (labels as Record<string, string>) : undefined,
    provider: isText(provider) ? provider : undefined,
    region: isText(region) ? region : undefined,
    zones: Array.isArray(zones) && zones.every(isText) ? zones : undefined,
  });
}

/** What an approval rule gives to a Cluster: what it sets, and what it allows of what was asked for. */
export function ruleFacts(rule: ApprovalRule, asked: PlacementFacts): PlacementFacts {
  const { allowLabels = [], allowProviders = [], allowRegions = [], allowZones = [] } = rule;
  const allows = (patterns: readonly string[], value: string): boolean =>
    patterns.some((pattern) => matchesPattern(pattern, value));
  const isAllowed = ([key, value]: [string, string]): boolean =>
    (Object.hasOwn(rule.labels ?? {}, key) && rule.labels?.[key] === value) ||
    allowLabels.some((pattern) => matchesPattern(pattern, pattern.includes('=') ? `${key}=${value}` : key));
  const allowed: PlacementFacts = {
    labels: Object.fromEntries(Object.entries(asked.labels ?? {}).filter(isAllowed)),
    provider: asked.provider !== undefined && allows(allowProviders, asked.provider) ? asked.provider : undefined,
    region: asked.region !== undefined && allows(allowRegions, asked.region) ? asked.region : undefined,
    zones: asked.zones?.filter((zone) => allows(allowZones, zone)),
  };
  const set = { labels: rule.setLabels, provider: rule.setProvider, region: rule.setRegion, zones: rule.setZones };
  return mergeFacts(placementFactsFault(allowed) === undefined ? allowed : {}, set);
}

/** The later takes precedence; labels are merged. */
export function mergeFacts(...all: readonly PlacementFacts[]): PlacementFacts {
  return withoutEmpty(
    all.reduce(
      (merged, facts) => ({
        labels: { ...merged.labels, ...facts.labels },
        provider: facts.provider ?? merged.provider,
        region: facts.region ?? merged.region,
        zones: facts.zones ?? merged.zones,
      }),
      {},
    ),
  );
}

/** What was asked for and not given as it was asked for; undefined if there is nothing. */
export function refusedFacts(asked: PlacementFacts, given: PlacementFacts): PlacementFacts | undefined {
  const isRefused = ([key, value]: [string, string]): boolean =>
    !Object.hasOwn(given.labels ?? {}, key) || given.labels?.[key] !== value;
  const refused = withoutEmpty({
    labels: Object.fromEntries(Object.entries(asked.labels ?? {}).filter(isRefused)),
    provider: asked.provider === given.provider ? undefined : asked.provider,
    region: asked.region === given.region ? undefined : asked.region,
    zones: asked.zones?.filter((zone) => !given.zones?.includes(zone)),
  });
  return Object.keys(refused).length === 0 ? undefined : refused;
}

/** `label tier=production, region eu`; empty if there are none. */
export function formatFacts({ labels = {}, provider, region, zones = [] }: PlacementFacts): string {
  const words = [
    ...Object.entries(labels).map(([key, value]) => `label ${key}=${value}`),
    ...(provider === undefined ? [] : [`provider ${provider}`]),
    ...(region === undefined ? [] : [`region ${region}`]),
    ...zones.map((zone) => `zone ${zone}`),
  ].join(', ');
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words;
}

const MAX_WORDS = 500;

function withoutEmpty({ labels, provider, region, zones }: PlacementFacts): PlacementFacts {
  return {
    ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
    ...(zones && zones.length > 0 ? { zones } : {}),
  };
}
