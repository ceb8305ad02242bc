import { formatTime } from '@asterism/machinery';
import type { AdmissionPipeline } from './admission-pipeline.ts';
import { trackWrite } from './field-ownership.ts';
import type { ObjectValidator } from './object-validator.ts';
import type { Write, WriteRequest } from './write.ts';

export interface WritePipelineOptions {
  /** Milliseconds since 1970. */
  clock: () => number;
  /** In [0, 1). */
  random: () => number;
  admission: AdmissionPipeline;
  validator: ObjectValidator;
}

/** The steps that differ between creations, updates and deletions. */
export interface WriteSteps<W extends Write, T> {
  /** Rejects a write that cannot begin, and resets metadata that the client must not set. */
  open(write: W): void;
  /** Brings the object into the form that its kind requires. Admission may have replaced it. */
  prepare?(write: W): void;
  /** Stores the outcome. Resolves with undefined if another write was faster, or the name is taken. */
  commit(write: W): Promise<T | undefined>;
}

/** One step of every write. A step that must wait returns a promise. */
type Step = (write: Write, steps: WriteSteps<Write, unknown>) => Promise<void> | void;

/** Takes every write through the same steps in the same order. */
export class WritePipeline {
  readonly #options: WritePipelineOptions;
  readonly #order: readonly Step[];

  constructor(options: WritePipelineOptions) {
    const { admission, validator } = options;
    this.#options = options;
    this.#order = [
      (write, steps) => steps.open(write),
      // Nobody owns the fields that admission and the kind set, so owners are noted before these run.
      (write) => trackWrite(write),
      (write) => admission.mutate(write),
      (write, steps) => steps.prepare?.(write),
      (write) => admission.check(write),
      (write) => write.resource.strategy.loadRules?.(),
      (write) => validator.validate(write),
      (write) => admission.admitValid(write),
    ];
  }

  /** The facts of a write that do not depend on its operation. */
  begin({ resource, context, work }: WriteRequest, namespace: string | undefined) {
    const strategyContext = {
      user: context.user,
      now: formatTime(this.#options.clock()),
      namespace,
      dryRun: context.dryRun === true,
      fieldValidation: context.fieldValidation ?? 'Warn',
      random: this.#options.random,
      warn: (text: string) => context.warn?.(text),
    };
    return { resource, context, strategyContext, work, namespace, isReplaced: false };
  }

  /**
   * Takes all steps, then commits. Others have their turn between two steps if it is due. Resolves as the commit of `steps` does.
   * Rejects with the `StatusError` of the first step that refuses the write.
   */
  async run<W extends Write, T>(write: W, steps: WriteSteps<W, T>): Promise<T | undefined> {
    const { work } = write;
    for (const step of this.#order) await work.step(() => step(write, steps));
    return await work.step(() => steps.commit(write));
  }
}
