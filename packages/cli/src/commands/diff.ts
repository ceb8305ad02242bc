import type { Cluster } from '@asterism/fleet/api';
import {
  compareInMember,
  createRenderer,
  findExtra,
  markOf,
  type MemberComparison,
  overrideFaults,
  type Rendered,
} from '@asterism/fleet/deliver';
import { isDispatchingSuspended } from '@asterism/fleet/template';
import type { KubeObject } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, describeError, EXIT, exitCodeOf } from '../exit-code.ts';
import { inParallel } from '../in-parallel.ts';
import { comparableLines } from '../output/comparable.ts';
import type { Terminal } from '../output/terminal.ts';
import { unifiedDiff } from '../output/unified-diff.ts';
import { explainRights } from '../placement/explain-rights.ts';
import { imagineFiles } from '../placement/imagine-objects.ts';
import { type Placed, type PlacedFleet, readPlaced } from '../placement/read-placed.ts';
import { parseResourceArguments, refuseNamesWithSelector } from '../resource-argument.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface DiffFlags extends SessionFlags {
  filename?: string[];
  clusters?: string;
  selector?: string;
  all?: boolean;
  allNamespaces?: boolean;
}

/** As `diff` and `kubectl diff` have it: 1 is no failure, but that there are differences. */
const DIFFERENT = 1;

/** Members that are asked at once, for one object each. */
const AT_ONCE = 16;

/**
 * `aster diff deploy/web`: what the template is to be in each cluster against what stands there. With `-f` as it would be if the files were
 * applied.
 *
 * @returns 0 where all is as it should be, 1 where not, more where that cannot be said
 */
export async function diff(words: readonly string[], flags: DiffFlags, terminal: Terminal): Promise<number> {
  try {
    return await compare(words, flags, terminal);
  } catch (error) {
    const code = exitCodeOf(error);
    throw code === DIFFERENT ? new CommandError(describeError(error), EXIT.undecided, { cause: error }) : error;
  }
}

async function compare(words: readonly string[], flags: DiffFlags, terminal: Terminal): Promise<number> {
  const { filename, selector, allNamespaces } = flags;
  if (words.length === 0 && !filename && !flags.all && !allNamespaces) {
    throw new CommandError('which template? for example: deploy/web, deploy, -f app.yaml, --all or -A', EXIT.usage);
  }
  if (words.length > 0 && (flags.all || allNamespaces)) {
    throw new CommandError('--all and -A mean all that is placed: leave them out, or the names', EXIT.usage);
  }
  refuseNamesWithSelector(words, flags);
  await using session = await openSession(flags, terminal);
  const targets = words.length > 0 ? await parseResourceArguments(words, session.hub) : [];
  const only = flags.clusters === undefined ? undefined : await resolveClusters(flags.clusters, session.hub);
  const files = filename && (await imagineFiles(filename, session, terminal));
  const namespace = allNamespaces ? undefined : session.namespace;
  const fleet = await readPlaced(session, { targets, selector, namespace, files }, terminal);
  const report = new Report(terminal);
  for (const placed of fleet.placed) report.placement(placed);
  const answers = inParallel(questionsOf(fleet, only), AT_ONCE, (question) => ask(session, question));
  for await (const [question, answer] of answers) await report.answer(question, answer);
  return report.exitCode;
}

/** One manifest of a template in one cluster. */
interface Question {
  what: string;
  cluster: string;
  template: KubeObject;
  label: string;
  overwrite: boolean;
  /** Whether delivery writes nothing there for now. */
  suspended: boolean;
  /** Undefined where the template shall not be. */
  rendered: Rendered | undefined;
  /** One of `rendered`. */
  manifest: KubeObject | undefined;
}

type Answer = MemberComparison | { failure: unknown };

/** In the order of the templates, then of the clusters' names: where it shall be, and where it shall not. */
async function* questionsOf(fleet: PlacedFleet, only: readonly string[] | undefined): AsyncGenerator<Question> {
  const asked = fleet.clusters
    .filter(({ metadata }) => only?.includes(metadata.name ?? '') ?? true)
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  for (const placed of fleet.placed) yield* await questionsAbout(placed, asked, fleet);
}

async function questionsAbout(
  { template, binding }: Placed,
  clusters: readonly Cluster[],
  { overrides }: PlacedFleet,
): Promise<Question[]> {
  if (!binding) return [];
  const reaching = overrides.filter(
    ({ metadata: { namespace } }) => namespace === undefined || namespace === template.metadata?.namespace,
  );
  const render = createRenderer(template, binding, reaching);
  const chosen = new Set(binding.spec.clusters?.map(({ name }) => name));
  const overwrite = binding.spec.conflictResolution === 'Overwrite';
  const questions = clusters.map(async (cluster): Promise<Question[]> => {
    const name = cluster.metadata.name ?? '';
    const rendered = chosen.has(name) ? await render(cluster) : undefined;
    const suspended = isDispatchingSuspended(binding.spec, name);
    return (rendered?.objects ?? [undefined]).map((manifest) => ({
      what: formatObject(manifest ?? template),
      cluster: name,
      template,
      label: markOf(binding),
      overwrite,
      suspended,
      rendered,
      manifest,
    }));
  });
  return (await Promise.all(questions)).flat();
}

async function ask(session: Session, question: Question): Promise<Answer> {
  const { cluster, template, label, overwrite, manifest } = question;
  try {
    const member = session.member(cluster);
    return manifest
      ? await compareInMember(member, { manifest, label, overwrite })
      : await findExtra(member, template, label);
  } catch (failure) {
    return { failure };
  }
}

/** Prints what was found: differences to stdout, what stands in the way of an answer to stderr, each once. */
class Report {
  readonly #terminal: Terminal;
  readonly #told = new Set<string>();
  #answers = 0;
  #differences = 0;
  #failures = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  placement({ template, binding }: Placed): void {
    if (!binding) this.#say(`${formatObject(template)} is placed nowhere: no policy selects it`);
    const { unschedulable } = binding?.spec ?? {};
    if (unschedulable) this.#say(`${formatObject(template)} is not placed anew: ${unschedulable.message}`);
    for (const { cluster, reason, message } of binding?.spec.decisions ?? []) {
      if (reason === 'NotPermitted' && unschedulable?.reason !== reason)
        this.#say(`${formatObject(template)} is not placed in ${cluster}: ${message}`);
    }
    for (const line of explainRights(binding?.spec ?? {})) this.#say(`${formatObject(template)}: ${line}`);
  }

  async answer(question: Question, answer: Answer): Promise<void> {
    const { what, cluster, rendered } = question;
    if ('failure' in answer) return this.#failed(question, answer.failure);
    this.#answers += 1;
    if (answer.notAsked !== undefined) {
      const line = `${cluster}: compared field by field, for a dry run is not to be had there: ${answer.notAsked}`;
      this.#say(line, `${cluster} by fields`);
    }
    if (answer.scaleUnknown !== undefined) {
      const line = `${cluster}: whether an autoscaler has given the replicas is not known: ${answer.scaleUnknown}`;
      this.#say(line, `${cluster} scale`);
    }
    const faults = rendered ? overrideFaults(rendered.unapplied) : [];
    for (const fault of faults) this.#say(`${cluster}: ${what} stays as it is: ${fault}`);
    const changes = await changesOf(question, answer);
    const head = faults.length > 0 ? 'is held back, for an override cannot be applied' : HEADS[answer.state](answer);
    const isDifferent = changes !== '' || faults.length > 0 || !['Standing', 'Absent'].includes(answer.state);
    if (!isDifferent) return;
    this.#differences += 1;
    const held = question.suspended ? ' (dispatching is suspended)' : '';
    this.#terminal.out(oneLine(`${cluster}: ${what} ${head}${held}`) + (faults.length > 0 ? '' : changes));
  }

  get exitCode(): number {
    if (this.#failures > 0) return this.#answers > 0 ? EXIT.partial : EXIT.undecided;
    return this.#differences > 0 ? DIFFERENT : EXIT.fine;
  }

  /** That a cluster where nothing shall be does not answer leaves open only whether something was left there. */
  #failed({ cluster, what, rendered }: Question, failure: unknown): void {
    const why = describeError(failure);
    if (rendered) {
      this.#failures += 1;
      this.#say(`${cluster}: ${why}`);
    } else this.#say(`${cluster}: whether ${what} was left there is not known: ${why}`, `${cluster} left`);
  }

  /** Of what is alike for many objects the first is told. */
  #say(line: string, subject = line): void {
    if (this.#told.has(subject)) return;
    this.#told.add(subject);
    this.#terminal.err(oneLine(`${line}`));
  }
}

const HEADS: Record<MemberComparison['state'], (comparison: MemberComparison) => string> = {
  Standing: () => 'differs',
  Missing: () => 'is missing',
  NotOurs: ({ message }) => `is not ours: ${message}`,
  ToBeTaken: () => 'is to be taken over, and loses what its maker wrote and the template does not have',
  Refused: ({ message }) => `would be refused: ${message}`,
  Extra: () => 'is to be removed',
  Absent: () => 'is not there',
};

async function changesOf({ cluster }: Question, { live, wanted }: MemberComparison): Promise<string> {
  const [before, after] = await comparableLines(live, wanted);
  return unifiedDiff({ name: `${cluster}/live`, lines: before }, { name: `${cluster}/wanted`, lines: after });
}

function formatObject({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata?.namespace ? `${metadata.namespace}/` : ''}${metadata?.name}`;
}
