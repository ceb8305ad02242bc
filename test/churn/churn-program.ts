import {
  CONFIG_MAPS,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  type KubeObject,
  NAMESPACES,
  PODS,
  type ResourceType,
  SERVICES,
  STATEFUL_SETS,
} from '@asterism/machinery';
import type { Choices } from '../differential/choices.ts';
import type { Change, ChurnedCluster } from './change.ts';
import { imageOf, job, pinnedPod, type Reference, service, UNSTEADY_NODES } from './churn-objects.ts';
import {
  create,
  fillNamespace,
  makeCronJob,
  makeFamily,
  makeNamespace,
  makeOrphans,
  makeWorkload,
  MOST_STATEFUL,
  nodeIsLost,
  seen,
} from './make-churn-objects.ts';

interface Workload extends Reference {
  type: ResourceType;
  version: number;
  /** Its pods may be of more than one template at the moment. */
  rolled?: boolean;
}

const NAMESPACES_AT_FIRST = 6;
const DEPLOYMENTS_AT_FIRST = 6;
const MOST_WORKLOADS = 60;
const POLICIES = ['Background', 'Foreground', 'Orphan'] as const;
type Policy = (typeof POLICIES)[number];

/**
 * The changes of a seed: first the objects of {@link NAMESPACES_AT_FIRST} namespaces, then `count` changes. They depend on the seed
 * alone, never on what a server answers, and so does what is there when all of them have taken effect.
 */
export function churnProgram(choices: Choices, count: number): { fill: Change[]; churn: Change[] } {
  const program = new ChurnProgram(choices);
  const fill = program.fill();
  const churn = Array.from({ length: count - 3 }, () => program.next());
  const [dead = '', flapping = ''] = UNSTEADY_NODES;
  const at = (part: number, change: Change): Change[] => churn.splice(Math.floor(count * part), 0, change);
  at(0.2, { what: `${dead} dies`, make: ({ stopNode }) => stopNode(dead) });
  at(0.25, { what: `${flapping} dies`, make: ({ stopNode }) => stopNode(flapping) });
  at(0.75, {
    what: `${flapping} comes back`,
    async make({ client, startNode }) {
      await nodeIsLost(client, flapping);
      startNode(flapping);
    },
  });
  return { fill, churn };
}

class ChurnProgram {
  readonly #choices: Choices;
  readonly #workloads: Workload[] = [];
  readonly #services: Reference[] = [];
  readonly #jobs: Reference[] = [];
  readonly #families: Reference[] = [];
  readonly #passing: string[] = [];
  /** Makes names that are never used again. */
  #made = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  fill(): Change[] {
    return Array.from({ length: NAMESPACES_AT_FIRST }, (_, number) => {
      const namespace = `churn-${number}`;
      const replicas = Array.from({ length: DEPLOYMENTS_AT_FIRST }, () => this.#choices.int(2, 6));
      for (const index of replicas.keys())
        this.#workloads.push({ namespace, name: `web-${index}`, type: DEPLOYMENTS, version: 1 });
      this.#workloads.push({ namespace, name: 'db', type: STATEFUL_SETS, version: 1 });
      this.#workloads.push({ namespace, name: 'agent', type: DAEMON_SETS, version: 1 });
      this.#services.push(...[0, 1, 2].map((index) => ({ namespace, name: `web-${index}` })));
      this.#jobs.push(...[0, 1].map((index) => ({ namespace, name: `once-${index}` })));
      this.#families.push({ namespace, name: 'family' });
      return { what: `fill ${namespace}`, make: ({ client }) => fillNamespace(client, namespace, replicas) };
    });
  }

  next(): Change {
    const kinds: readonly (readonly [number, () => Change | undefined])[] = [
      [14, () => this.#scale()],
      [12, () => this.#roll()],
      [8, () => this.#addWorkload()],
      [7, () => this.#deleteWorkload()],
      [7, () => this.#addJob()],
      [4, () => this.#deleteJob()],
      [2, () => this.#addCronJob()],
      [5, () => this.#addService()],
      [4, () => this.#changeService()],
      [3, () => this.#deleteService()],
      [5, () => this.#addFamily()],
      [5, () => this.#deleteOwner()],
      [2, () => this.#addOrphans()],
      [3, () => this.#addNamespace()],
      [3, () => this.#deleteNamespace()],
      [3, () => this.#addPod()],
    ];
    for (;;) {
      let left = this.#choices.next() * kinds.reduce((sum, [weight]) => sum + weight, 0);
      const chosen = kinds.find(([weight]) => (left -= weight) < 0);
      const change = chosen?.[1]();
      if (change) return change;
    }
  }

  #fresh(word: string): Reference {
    const namespace = `churn-${this.#choices.int(0, NAMESPACES_AT_FIRST - 1)}`;
    this.#made += 1;
    return { namespace, name: `${word}-n${this.#made}` };
  }

  /** One of them, which is no longer among them. */
  #taken<T>(from: T[]): T | undefined {
    return from.length === 0 ? undefined : from.splice(this.#choices.int(0, from.length - 1), 1)[0];
  }

  #addWorkload(): Change | undefined {
    if (this.#workloads.length >= MOST_WORKLOADS) return undefined;
    const type = this.#choices.pick<ResourceType>([
      DEPLOYMENTS,
      DEPLOYMENTS,
      DEPLOYMENTS,
      DEPLOYMENTS,
      STATEFUL_SETS,
      DAEMON_SETS,
    ]);
    const ref = this.#fresh(type.kind.toLowerCase());
    const replicas = this.#choices.int(0, type === STATEFUL_SETS ? MOST_STATEFUL : 6);
    this.#workloads.push({ ...ref, type, version: 1 });
    return changeOf('make', type.kind, ref, ({ client }) => makeWorkload(client, type, ref, replicas));
  }

  #scale(): Change | undefined {
    const workload = this.#choices.pick(this.#workloads);
    const { type, namespace, name } = workload;
    if (type === DAEMON_SETS) return undefined;
    const replicas = this.#choices.int(0, type === STATEFUL_SETS ? MOST_STATEFUL : 6);
    return this.#patched(`scale to ${replicas}`, type, { namespace, name }, { spec: { replicas } });
  }

  #roll(): Change {
    const workload = this.#choices.pick(this.#workloads);
    // Now and then back to what was before.
    workload.rolled = true;
    workload.version = this.#choices.chance(0.2) ? 1 : workload.version + 1;
    const { type, namespace, name, version } = workload;
    const containers = [{ name: 'main', image: imageOf(version) }];
    return this.#patched(
      `roll to ${version}`,
      type,
      { namespace, name },
      { spec: { template: { spec: { containers } } } },
    );
  }

  #patched(what: string, type: ResourceType, ref: Reference, body: object): Change {
    return changeOf(what, type.kind, ref, async ({ client }) => {
      await client.resource<KubeObject>(type).patch(ref, { type: 'strategic', body });
      await seen(client, type, ref);
    });
  }

  #deleteWorkload(): Change | undefined {
    if (this.#workloads.length < MOST_WORKLOADS / 2) return undefined;
    const workload = this.#taken(this.#workloads);
    if (workload === undefined) return undefined;
    // What a half-done rollout, or a node that is lost, left of its pods would be there for good.
    const isWhole = workload.type === DEPLOYMENTS && workload.rolled !== true;
    return this.#deleted(workload.type, workload, isWhole ? POLICIES : ['Background', 'Foreground']);
  }

  #deleted(type: ResourceType, { namespace, name }: Reference, policies: readonly Policy[] = POLICIES): Change {
    const propagationPolicy = this.#choices.pick(policies);
    const ref = { namespace, name };
    return changeOf(`delete (${propagationPolicy})`, type.kind, ref, async ({ client }) => {
      await client.resource<KubeObject>(type).delete(ref, { propagationPolicy });
    });
  }

  #addJob(): Change {
    const ref = this.#fresh('job');
    const completions = this.#choices.int(1, 4);
    this.#jobs.push(ref);
    return changeOf('make', 'Job', ref, async ({ client }) => {
      await create(client, JOBS, job(ref, completions));
    });
  }

  #deleteJob(): Change | undefined {
    const ref = this.#taken(this.#jobs);
    const propagationPolicy = this.#choices.pick(['Background', 'Foreground'] as const);
    return (
      ref &&
      changeOf(`delete (${propagationPolicy})`, 'Job', ref, async ({ client }) => {
        await client.resource(JOBS).delete(ref, { propagationPolicy });
      })
    );
  }

  #addCronJob(): Change {
    const ref = this.#fresh('cron');
    return changeOf('make', 'CronJob', ref, ({ client }) => makeCronJob(client, ref));
  }

  #addService(): Change {
    const ref = this.#fresh('service');
    const { name: app } = this.#choices.pick(this.#workloads);
    const port = this.#choices.int(80, 99);
    this.#services.push(ref);
    return changeOf('make', 'Service', ref, async ({ client }) => {
      await create(client, SERVICES, service(ref, app, port));
    });
  }

  #changeService(): Change | undefined {
    if (this.#services.length === 0) return undefined;
    const ref = this.#choices.pick(this.#services);
    const { name: app } = this.#choices.pick(this.#workloads);
    return changeOf(`select ${app}`, 'Service', ref, async ({ client }) => {
      await client.resource(SERVICES).patch(ref, { type: 'merge', body: { spec: { selector: { app } } } });
    });
  }

  #deleteService(): Change | undefined {
    const ref = this.#taken(this.#services);
    return (
      ref &&
      changeOf('delete', 'Service', ref, async ({ client }) => {
        await client.resource(SERVICES).delete(ref);
      })
    );
  }

  #addFamily(): Change {
    const ref = this.#fresh('family');
    this.#families.push(ref);
    return changeOf('make', 'ConfigMap with what it owns', ref, ({ client }) => makeFamily(client, ref));
  }

  #deleteOwner(): Change | undefined {
    const ref = this.#taken(this.#families);
    return ref && this.#deleted(CONFIG_MAPS, ref);
  }

  #addOrphans(): Change {
    const ref = this.#fresh('orphans');
    return changeOf('make', 'ConfigMaps of owners that are not there', ref, ({ client }) => makeOrphans(client, ref));
  }

  #addNamespace(): Change {
    this.#made += 1;
    const namespace = `passing-${this.#made}`;
    this.#passing.push(namespace);
    return changeOf('make', 'Namespace', { namespace, name: 'with a Deployment and a Service' }, async ({ client }) => {
      await makeNamespace(client, namespace);
      await makeWorkload(client, DEPLOYMENTS, { namespace, name: 'web' }, 2);
      await makeWorkload(client, STATEFUL_SETS, { namespace, name: 'db' }, 1);
      await create(client, SERVICES, service({ namespace, name: 'web' }, 'web', 80));
      await create(client, JOBS, job({ namespace, name: 'once' }, 1));
      await makeFamily(client, { namespace, name: 'family' });
    });
  }

  #deleteNamespace(): Change | undefined {
    const name = this.#taken(this.#passing);
    return name === undefined
      ? undefined
      : {
          what: `delete Namespace ${name}`,
          async make({ client }) {
            await client.resource(NAMESPACES).delete({ name });
          },
        };
  }

  #addPod(): Change {
    const ref = this.#fresh('pod');
    return changeOf('make', 'Pod', ref, async ({ client }) => {
      await create(client, PODS, pinnedPod(ref, 'node-0', { grace: 1 }));
    });
  }
}

function changeOf(
  what: string,
  kind: string,
  { namespace, name }: Reference,
  make: (cluster: ChurnedCluster) => Promise<void>,
): Change {
  return { what: `${what} ${kind} ${namespace}/${name}`, make };
}
