import type { Clock } from '@asterism/client';
import type { Pod } from '@asterism/machinery';
import type { ContainerRuntime } from '../../machine/container-runtime.ts';
import type { ObjectSource } from './object-source.ts';

/** What the pods of a member have in common. */
export interface PodWorld {
  clock: Clock;
  runtime: ContainerRuntime;
  objects: Pick<ObjectSource, 'get'>;
  /** A token of the pod's service account. */
  token(pod: Pod, projection: { audience?: string; expirationSeconds?: number }): Promise<string>;
  /** Never waits. */
  event(pod: Pod, event: PodEvent): void;
  /** From bound to started, and from deleted to gone at least, in ms. */
  startMs: number;
  stopMs: number;
}

export interface PodEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** The one that it is about, if it is about one. */
  container?: string;
}

/** The machine that a pod runs on. */
export interface PodHost {
  hostIP: string;
  allocatable: Readonly<Record<string, string | number>>;
  /** The pod's own address; undefined where there is none left. */
  takeAddress(pod: Pod): string | undefined;
}
