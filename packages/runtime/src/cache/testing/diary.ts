import type { KubeObject } from '@asterism/machinery';
import type { Informer, InformerHandler } from '../informer.ts';

/** Notes the events that an informer reports to a handler. */
export class Diary implements InformerHandler {
  readonly lines: string[] = [];
  readonly #waiters: (() => void)[] = [];

  onAdd({ metadata }: KubeObject, initial: boolean): void {
    this.#write(`add ${metadata?.name}${initial ? ' (initial)' : ''}`);
  }

  onUpdate(before: KubeObject, after: KubeObject): void {
    this.#write(
      `update ${after.metadata?.name} ${before.metadata?.resourceVersion}→${after.metadata?.resourceVersion}`,
    );
  }

  onDelete({ metadata }: KubeObject, inferred: boolean): void {
    this.#write(`delete ${metadata?.name}${inferred ? ' (inferred)' : ''}`);
  }

  async until(count: number): Promise<string[]> {
    while (this.lines.length < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    return this.lines;
  }

  #write(line: string): void {
    this.lines.push(line);
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

/** A diary that is a handler of the informer. */
export function diaryOf(informer: Informer): Diary {
  const diary = new Diary();
  informer.addHandler(diary);
  return diary;
}
