import { type BenchContext, defineBench, type FigureSpec } from '../harness/bench.ts';
import { buildPackages } from '../apiserver/build-packages.ts';
import { median } from '../harness/statistics.ts';
import { type AccessCosts, added, measureAccess } from './access.ts';
import { type Caller, CALLERS, MANY_ROLES } from './access-servers.ts';
import { HeldMembers, MEMBERS, NODES, PODS, REPLICAS } from './held-members.ts';

const MB = 1e6;
const EACH = `${NODES} nodes and ${PODS} pods each`;
const ROLES = MANY_ROLES.toLocaleString('en');
const ALLOWED = 'the same GET at a server that asks nobody';

const accessFigure = (who: string): FigureSpec => ({
  name: `a GET by ${who} with RBAC: CPU beyond that at a server that asks nobody`,
  unit: 'µs',
  goal: { of: 'value', atMost: 15 },
});
const roleFigure = (who: string): FigureSpec => ({
  name: `the same by ${who} with ${ROLES} roles and bindings more`,
  unit: 'µs',
  baseline: { name: 'without them' },
  goal: { of: 'ratio', atMost: 1.5 },
});

const figures = {
  'held.memory': {
    name: `resident memory of a process that holds ${MEMBERS} simulated members with ${EACH}`,
    unit: 'MB',
    goal: { of: 'value', atMost: 1_500 },
  },
  'held.each': { name: 'for each member', unit: 'MB' },
  'held.idle': {
    name: `CPU of that process when nothing is asked of it, node leases on`,
    unit: '% of a core',
    goal: { of: 'value', atMost: 10 },
  },
  'held.start': { name: 'CPU of the start of one of them', unit: 'ms' },
  'deployment.ready': {
    name: `a Deployment of ${REPLICAS} replicas, from the apply to Available with all ready`,
    unit: 'ms',
    goal: { of: 'value', atMost: 1_000 },
  },
  'deployment.cpu': { name: 'the same: CPU of the member', unit: 'ms' },
  'access.get': {
    name: 'a GET of one pod (5 KB) by token with RBAC, without the wire: CPU',
    unit: 'µs',
    baseline: { name: ALLOWED },
  },
  'access.token': accessFigure('token'),
  'access.certificate': accessFigure('client certificate'),
  'access.serviceAccount': accessFigure('service account token'),
  'roles.token': roleFigure('token'),
  'roles.serviceAccount': roleFigure('service account token'),
} as const satisfies Record<string, FigureSpec>;

type Context = BenchContext<keyof typeof figures>;

/** Many simulated members in one process; and what it costs to ask who somebody is and what he may. */
export const simBench = defineBench<keyof typeof figures>({
  name: 'sim',
  summary: `${MEMBERS} simulated members in one process, a Deployment of ${REPLICAS} replicas, authentication with RBAC`,
  minutes: 10,
  figures,
  async run(context) {
    context.progress('compiling the packages');
    await buildPackages(context.signal);
    reportAccess(await measureAccess(context.progress, context.signal), context);
    await measureMembers(context);
  },
});

async function measureMembers({ progress, report, signal }: Context): Promise<void> {
  await using members = await HeldMembers.create(signal);
  progress(`Deployments of ${REPLICAS} replicas in one member`);
  const times = await members.deploy();
  report('deployment.ready', { values: times.readyMs });
  report('deployment.cpu', { values: times.cpuMs });
  progress(`starting ${MEMBERS} members with ${EACH}`);
  const held = await members.hold();
  report('held.memory', { values: [held.heldBytes / MB] });
  report('held.each', { values: [(held.heldBytes - held.emptyBytes) / MB / MEMBERS] });
  report('held.idle', { values: [held.idlePercent] });
  report('held.start', { values: [held.startCpuMs / MEMBERS] });
}

function reportAccess(costs: AccessCosts, { report, detail }: Context): void {
  report('access.get', { values: costs.token, baselines: costs.open });
  for (const caller of ['token', 'certificate', 'serviceAccount'] as const) {
    report(`access.${caller}`, { values: added(costs, caller, 'open') });
  }
  report('roles.token', { values: added(costs, 'tokenMany', 'open'), baselines: added(costs, 'token', 'open') });
  report('roles.serviceAccount', {
    values: added(costs, 'serviceAccountMany', 'open'),
    baselines: added(costs, 'serviceAccount', 'open'),
  });
  const names: Record<Caller, string> = {
    open: 'nobody is asked (anonymous, AlwaysAllow)',
    token: 'token, RBAC',
    certificate: 'client certificate, RBAC',
    serviceAccount: 'service account token, RBAC',
    tokenMany: `token, RBAC with ${ROLES} roles and bindings`,
    serviceAccountMany: `service account token, RBAC with ${ROLES} roles and bindings`,
  };
  detail({
    title: 'a GET of one pod without the wire: CPU, µs',
    columns: ['caller', 'median', 'every round'],
    rows: CALLERS.map((caller) => [
      names[caller],
      median(costs[caller]),
      costs[caller].map((cost) => cost.toFixed(1)).join(', '),
    ]),
  });
}
