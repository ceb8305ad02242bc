import type { Clock } from '@asterism/client';
import type { Container } from '@asterism/machinery';
import type { ContainerLife } from './container-life.ts';
import { PodDirectories } from './make-container.ts';
import { mountedFiles, type VolumeInputs } from './volume-files.ts';

/** Fills what a pod's containers mount: when something runs that may look, or when somebody does. */
export class PodMounts {
  readonly #directories: PodDirectories;
  readonly #filled = new Map<ContainerLife, Promise<void>>();

  constructor(clock: Clock) {
    this.#directories = new PodDirectories(clock);
  }

  /** Its next run is filled anew. */
  forget(life: ContainerLife): void {
    this.#filled.delete(life);
  }

  /** Once for each run. */
  fill(life: ContainerLife, spec: Container, inputs: VolumeInputs): Promise<void> {
    const { made } = life;
    const present = this.#filled.get(life);
    if (present || !made) return present ?? Promise.resolve();
    made.shared = this.#directories.of(inputs.pod, spec);
    const filling = mountedFiles(spec, inputs).then((files) => {
      made.files = files;
    });
    this.#filled.set(life, filling);
    filling.catch(() => this.forget(life));
    return filling;
  }
}
