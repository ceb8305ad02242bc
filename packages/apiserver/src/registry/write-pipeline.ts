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

/** The order of every write: open, track, mutate, prepare, check, validate, admit, commit. */
export class WritePipeline {
  readonly #options: WritePipelineOptions;

  constructor(options: WritePipelineOptions) {
    this.#options = options;
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

  /** Resolves as the commit of `steps` does. Rejects with the `StatusError` of the first step that refuses the write. */
  async run<W extends Write, T>(write: W, steps: WriteSteps<W, T>): Promise<T | undefined> {
    const { admission, validator } = this.#options;
    const { work } = write;
    await work.step(() => steps.open(write));
    // Nobody owns the fields that the kind and admission set, so owners are noted before these run.
    await work.step(() => trackWrite(write));
    await work.step(() => admission.mutate(write));
    await work.step(() => steps.prepare?.(write));
    await work.step(() => admission.check(write));
    await work.step(() => validator.validate(write));
    await work.step(() => admission.admitValid(write));
    return await work.step(() => steps.commit(write));
  }
}
