import type { KubeObject } from '@asterism/machinery';
import type { Draw } from '../draw.ts';
import {
  type Kind,
  type Lane,
  LANES,
  type LanePolicy,
  overrideOf,
  policyOf,
  type RegionOverride,
  settingsOf,
  sharedSecretOf,
  templateOf,
  type Workload,
} from './wanted.ts';

/** What a user asks of the hub: to apply an object, or to delete it. */
export type Operation = { apply: KubeObject } | { delete: KubeObject };

/** Some of a user's changes: those of one list go one after the other, the lists in any order. */
export interface Change {
  /** `Deployment team-a/w-3: scaled`, for messages. */
  what: string;
  operations: readonly Operation[];
  /** Which objects of members it may reach: of these namespaces, where it names none of a workload. */
  namespace: string;
  workload?: Pick<Workload, 'kind' | 'name'>;
  /** How many writes to one object it may take at most. */
  writes: number;
}

const KIND_LOTS: readonly Kind[] = [
  ...Array<Kind>(7).fill('Deployment'),
  ...Array<Kind>(3).fill('StatefulSet'),
  ...Array<Kind>(6).fill('ConfigMap'),
  ...Array<Kind>(3).fill('Service'),
  'Job',
];

/** What is wanted at one time. */
export interface Wish {
  /** By `Kind namespace/name`. */
  workloads: ReadonlyMap<string, Workload>;
  /** By `namespace/lane`. */
  policies: ReadonlyMap<string, LanePolicy>;
  /** By namespace. */
  overrides: ReadonlyMap<string, RegionOverride>;
}

export interface RolloutOptions {
  workloads: number;
  namespaces: readonly string[];
  clusters: readonly string[];
  regions: readonly string[];
}

/**
 * What a user wants of the fleet now, and what is wanted next. In one round a namespace has either its templates changed, each at
 * most once, or its policies, or its overrides: so it is known how often an object of a member may be written at most.
 */
export class Rollout implements Wish {
  readonly options: RolloutOptions;
  readonly workloads = new Map<string, Workload>();
  readonly policies = new Map<string, LanePolicy>();
  readonly overrides = new Map<string, RegionOverride>();
  readonly #draw: Draw;
  #names = 0;

  constructor(draw: Draw, options: RolloutOptions) {
    this.#draw = draw;
    this.options = options;
  }

  /** What is wanted now, to be compared with later. */
  now(): Wish {
    return {
      workloads: new Map(this.workloads),
      policies: new Map(this.policies),
      overrides: new Map(this.overrides),
    };
  }

  /** All of it for the first time. */
  begin(): Change[] {
    const { namespaces, workloads } = this.options;
    const policies = namespaces.flatMap((namespace) => [
      ...LANES.map((lane) => this.#setPolicy(this.#drawPolicy(namespace, lane))),
      this.#setOverride(namespace),
      { ...changeIn(namespace, 'the shared Secret', [{ apply: sharedSecretOf(namespace) }]) },
    ]);
    return [...policies, ...Array.from({ length: workloads }, () => this.#add(this.#draw.pick(namespaces)))];
  }

  /** The next round of changes: of one namespace at least. */
  next(): Change[] {
    for (;;) {
      const changes = this.options.namespaces.flatMap((namespace) => this.#change(namespace));
      if (changes.length > 0) return changes;
    }
  }

  /** Everything is taken away: of some namespaces the templates first, of others the policies. */
  end(): Change[] {
    return this.options.namespaces.flatMap((namespace) => {
      const templates = this.#of(namespace).map((workload) => this.#remove(workload));
      const policies = [...this.policies.values()]
        .filter((policy) => policy.namespace === namespace)
        .map((policy) => this.#setPolicy({ ...policy, present: false }));
      return this.#draw.chance(0.5) ? templates : [...policies, ...templates];
    });
  }

  #change(namespace: string): Change[] {
    const lot = this.#draw.next();
    if (lot < 0.55) return this.#changeTemplates(namespace);
    if (lot < 0.8) return this.#changePolicies(namespace);
    return lot < 0.9 ? [this.#setOverride(namespace)] : [];
  }

  #of(namespace: string): Workload[] {
    return [...this.workloads.values()].filter((workload) => workload.namespace === namespace);
  }

  #add(namespace: string): Change {
    const draw = this.#draw;
    const kind = draw.pick(KIND_LOTS);
    const needs = kind === 'Deployment' || kind === 'StatefulSet';
    // What a Job is cannot be changed: it stands where it was placed, or goes.
    const lane = kind === 'Job' ? draw.pick(LANES.slice(0, 2)) : draw.pick(LANES);
    const workload: Workload = {
      kind,
      namespace,
      name: `w-${this.#names++}`,
      lane,
      replicas: lane === 'everywhere' || lane === 'some' ? draw.int(1, 2) : draw.int(1, 6),
      version: 0,
      note: 0,
      settings: needs && draw.chance(0.5) ? 0 : undefined,
      secret: needs && draw.chance(0.3),
    };
    return this.#set(workload, 'new');
  }

  #changeTemplates(namespace: string): Change[] {
    const draw = this.#draw;
    const changed = this.#of(namespace).flatMap((workload) =>
      draw.chance(0.4) ? [this.#changeTemplate(workload)] : [],
    );
    return [...changed, ...Array.from({ length: draw.int(0, 2) }, () => this.#add(namespace))];
  }

  #changeTemplate(workload: Workload): Change {
    const draw = this.#draw;
    const { kind, lane, note, replicas, settings, version } = workload;
    const lot = draw.next();
    if (lot < 0.1) return this.#remove(workload);
    if (lot < 0.16) return this.#replace(workload);
    if (kind !== 'Job' && lot < 0.26) {
      const other = draw.pick(LANES.filter((each) => each !== lane));
      return { ...this.#set({ ...workload, lane: other }, `from lane ${lane} to ${other}`), writes: 2 };
    }
    if (settings !== undefined && lot < 0.4) return this.#set({ ...workload, settings: settings + 1 }, 'settings');
    if (kind === 'Deployment' || kind === 'StatefulSet') {
      if (lot < 0.6) return this.#set({ ...workload, replicas: (replicas % 6) + 1 }, `scaled from ${replicas}`);
    }
    if (kind !== 'Job' && lot < 0.8) return this.#set({ ...workload, version: version + 1 }, `version ${version + 1}`);
    return this.#set({ ...workload, note: note + 1 }, `note ${note + 1}`);
  }

  /** Deleted, and made anew under its name. */
  #replace(workload: Workload): Change {
    const removal = this.#remove(workload);
    const anew = this.#set({ ...workload, note: workload.note + 1 }, 'replaced');
    return { ...anew, operations: [...removal.operations, ...anew.operations], writes: 3 };
  }

  #set(workload: Workload, what: string): Change {
    this.workloads.set(keyOf(workload), workload);
    const settings = workload.settings === undefined ? [] : [{ apply: settingsOf(workload) }];
    return changeOf(workload, what, [...settings, { apply: templateOf(workload) }]);
  }

  #remove(workload: Workload): Change {
    this.workloads.delete(keyOf(workload));
    const settings = workload.settings === undefined ? [] : [{ delete: settingsOf(workload) }];
    return changeOf(workload, 'deleted', [{ delete: templateOf(workload) }, ...settings]);
  }

  #changePolicies(namespace: string): Change[] {
    const draw = this.#draw;
    const lanes = LANES.filter(() => draw.chance(0.5));
    return lanes.map((lane) => {
      const last = this.policies.get(`${namespace}/${lane}`);
      const present = last?.present === true ? !draw.chance(0.15) : true;
      return this.#setPolicy({ ...this.#drawPolicy(namespace, lane), present });
    });
  }

  #drawPolicy(namespace: string, lane: Lane): LanePolicy {
    const draw = this.#draw;
    const { clusters } = this.options;
    const chosen = clusters.filter(() => draw.chance(0.6));
    const weights = clusters.map((name): [string, number] => [name, draw.int(0, 4)]);
    return {
      namespace,
      lane,
      clusters: chosen.length > 0 ? chosen : [draw.pick(clusters)],
      weights: Object.fromEntries([...weights, [draw.pick(clusters), 5]]),
      present: true,
    };
  }

  #setPolicy(policy: LanePolicy): Change {
    const { namespace, lane, present } = policy;
    this.policies.set(`${namespace}/${lane}`, policy);
    const operation = present ? { apply: policyOf(policy) } : { delete: policyOf(policy) };
    return changeIn(namespace, `policy ${lane} ${present ? 'set' : 'deleted'}`, [operation]);
  }

  #setOverride(namespace: string): Change {
    const draw = this.#draw;
    const override = { namespace, region: draw.pick(this.options.regions), registry: `r${draw.int(1, 9)}.example` };
    this.overrides.set(namespace, override);
    return changeIn(namespace, `overrides of ${override.region}`, [{ apply: overrideOf(override) }]);
  }
}

function keyOf({ kind, namespace, name }: Workload): string {
  return `${kind} ${namespace}/${name}`;
}

function changeOf(workload: Workload, what: string, operations: readonly Operation[]): Change {
  const { kind, name, namespace } = workload;
  return { what: `${keyOf(workload)}: ${what}`, namespace, workload: { kind, name }, operations, writes: 1 };
}

function changeIn(namespace: string, what: string, operations: readonly Operation[]): Change {
  return { what: `${namespace}: ${what}`, namespace, operations, writes: 1 };
}
