import type { FreeNode } from '../summarize-nodes.ts';

/** Mulberry32: the same numbers in [0, 1) for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const MACHINES = [
  { type: 'small', cpu: 4_000, memory: 16 * GIB, gpus: 0 },
  { type: 'medium', cpu: 16_000, memory: 64 * GIB, gpus: 0 },
  { type: 'large', cpu: 64_000, memory: 256 * GIB, gpus: 0 },
  { type: 'gpu', cpu: 96_000, memory: 768 * GIB, gpus: 8 },
];
const POD_SIZES = [
  [100, GIB / 4],
  [500, GIB],
  [1_000, 2 * GIB],
  [4_000, 8 * GIB],
] as const;
const ZONES = ['a', 'b', 'c'];

type Fill = (machine: (typeof MACHINES)[number], random: () => number) => { cpu: number; memory: number; pods: number };

/** Any amounts: harder than any cluster that a scheduler filled. */
const anyhow: Fill = (machine, random) => ({
  cpu: Math.floor(machine.cpu * random()),
  memory: Math.floor((machine.memory * random()) / MIB) * MIB,
  pods: 110 - Math.floor(random() * 110),
});

/** With pods of common sizes, up to any degree. */
const byPods: Fill = (machine, random) => {
  const room = { cpu: machine.cpu - 200, memory: machine.memory - GIB, pods: 100 };
  const leave = machine.cpu * (1 - random() * 0.9);
  while (room.pods > 0) {
    const [cpu, memory] = POD_SIZES[Math.floor(POD_SIZES.length * random() ** 2)] as (typeof POD_SIZES)[number];
    const asked = Math.floor((memory * (0.5 + random())) / MIB) * MIB;
    if (room.cpu - cpu < leave || room.memory < asked) break;
    room.cpu -= cpu;
    room.memory -= asked;
    room.pods -= 1;
  }
  return room;
};

/** Nodes of some machine types and zones, each full to another degree; those with GPUs are tainted. */
export function randomNodes(count: number, random: () => number, how: 'anyhow' | 'by pods' = 'anyhow'): FreeNode[] {
  const types = MACHINES.slice(0, 1 + Math.floor(random() * MACHINES.length));
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const fill = how === 'anyhow' ? anyhow : byPods;
  return Array.from({ length: count }, (_, index) => {
    const machine = pick(types);
    const name = `node-${index}`;
    return {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': machine.type,
        'topology.kubernetes.io/zone': pick(ZONES),
      },
      taints: machine.gpus > 0 ? [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' as const }] : [],
      free: {
        ...fill(machine, random),
        ...(machine.gpus > 0 ? { 'nvidia.com/gpu': Math.floor(random() * 9) } : {}),
      },
    };
  });
}
