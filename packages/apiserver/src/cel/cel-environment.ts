import { compileGoPattern } from '@asterism/machinery';
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { registerAuthorizer } from './cel-authorizer.ts';
import { goMatches, registerLibrary } from './cel-library.ts';
import { describeCompileFault, pointed } from './compile-fault.ts';
import { loadCel } from './load-cel.ts';
import { CostExceeded, type Evaluator, Meter, nodesOf } from './meter.ts';

const PREFIX = 'compilation failed: ';
const METER = 'asterismMeter';

/** The variables of an expression by name. */
export type CelVariables = Readonly<Record<string, unknown>>;

/** A compiled expression that is true or false. */
export interface CelCondition {
  /** Rejects with an `Error` that says why in upstream's words: `no such key: x`. Never takes longer than some 100 ms. */
  evaluate(variables: CelVariables): Promise<boolean>;
}

export type CompiledCondition =
  | { condition: CelCondition; fault?: undefined }
  | { condition?: undefined; fault: string };

/** Where conditions of admission are compiled: the variables `object`, `oldObject`, `request` and `authorizer`. */
export class CelEnvironment {
  readonly #environment: Environment;
  readonly #meter = new Meter();
  readonly #functions: ReadonlySet<string>;

  constructor() {
    const { Environment: Base } = loadCel();
    const environment = new Base({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
    registerLibrary(environment);
    registerRequest(environment);
    registerAuthorizer(environment);
    environment.registerVariable('object', 'dyn');
    environment.registerVariable('oldObject', 'dyn');
    environment.registerVariable('request', 'kubernetes.AdmissionRequest');
    environment.registerVariable('authorizer', 'kubernetes.authorization.Authorizer');
    this.#environment = environment;
    this.#functions = new Set(environment.getDefinitions().functions.map(({ name }) => name));
    this.#attach();
  }

  /** `fault` is what upstream says where it cannot be compiled, or is neither true nor false. */
  compile(expression: string): CompiledCondition {
    const isFunction = (name: string): boolean => this.#functions.has(name) && name !== METER;
    let parsed;
    try {
      parsed = this.#environment.parse(expression);
    } catch (error) {
      return { fault: PREFIX + describeCompileFault(error, expression, isFunction) };
    }
    const { valid, type, error } = parsed.check();
    if (!valid) return { fault: PREFIX + describeCompileFault(error, expression, isFunction) };
    const pattern = badPattern(parsed.ast, expression);
    if (pattern !== undefined) return { fault: PREFIX + pattern };
    if (type !== 'bool') return { fault: 'must evaluate to bool' };
    // The evaluator does not show itself the root: so that is what matters to nobody.
    const evaluated = this.#environment.parse(`true && (\n${expression}\n)`);
    evaluated.check();
    this.#meter.measure(evaluated.ast);
    return { condition: { evaluate: (variables) => this.#evaluate(() => evaluated(variables) as unknown) } };
  }

  async #evaluate(run: () => unknown): Promise<boolean> {
    this.#meter.begin();
    try {
      const value = await run();
      if (this.#meter.exceeded) throw this.#meter.exceeded;
      return value === true;
    } catch (error) {
      if (this.#meter.exceeded ?? error instanceof CostExceeded) throw this.#meter.exceeded ?? error;
      throw new Error(evaluationFault(error), { cause: error });
    }
  }

  /** The evaluator shows itself to functions alone, as their `this`. */
  #attach(): void {
    const meter = this.#meter;
    this.#environment.registerFunction(
      `${METER}(): bool`,
      function attach(this: Evaluator) {
        meter.attach(withGoPatterns(this));
        return true;
      },
      { async: false },
    );
    this.#environment.evaluate(`${METER}()`);
  }
}

/** Regular expressions are Go's: JavaScript's take exponential time for some. */
function withGoPatterns(evaluator: Evaluator): Evaluator {
  const run = evaluator.run.bind(evaluator);
  evaluator.run = (node, context) => {
    if (node.op !== 'rcall' || node.args[0] !== 'matches') return run(node, context);
    const [, receiver, [argument]] = node.args as [string, ASTNode, ASTNode[]];
    const text = evaluator.run(receiver, context);
    const pattern = argument && evaluator.run(argument, context);
    return typeof text === 'string' && typeof pattern === 'string' ? goMatches(text, pattern) : run(node, context);
  };
  return evaluator;
}

function badPattern(root: ASTNode, expression: string): string | undefined {
  for (const node of nodesOf(root)) {
    if (node.op !== 'rcall' || node.args[0] !== 'matches') continue;
    const [argument] = node.args[2];
    if (argument?.op !== 'value' || typeof argument.args !== 'string') continue;
    if (compileGoPattern(argument.args).error !== undefined) {
      return pointed('invalid matches argument', expression, argument.start);
    }
  }
  return undefined;
}

function evaluationFault(error: unknown): string {
  const { summary, message } = error as Error & { summary?: string };
  return (summary ?? message)
    .replace(/^No such key: /, 'no such key: ')
    .replace(/^no such overload: .*/, 'no such overload');
}

function registerRequest(environment: Environment): void {
  const names = { group: 'string', version: 'string' };
  environment.registerType('kubernetes.GroupVersionKind', { fields: { ...names, kind: 'string' } });
  environment.registerType('kubernetes.GroupVersionResource', { fields: { ...names, resource: 'string' } });
  environment.registerType('kubernetes.UserInfo', {
    fields: { username: 'string', uid: 'string', groups: 'list<string>', extra: 'map<string, list<string>>' },
  });
  environment.registerType('kubernetes.AdmissionRequest', {
    fields: {
      kind: 'kubernetes.GroupVersionKind',
      resource: 'kubernetes.GroupVersionResource',
      subResource: 'string',
      requestKind: 'kubernetes.GroupVersionKind',
      requestResource: 'kubernetes.GroupVersionResource',
      requestSubResource: 'string',
      name: 'string',
      namespace: 'string',
      operation: 'string',
      userInfo: 'kubernetes.UserInfo',
      dryRun: 'bool',
      options: 'dyn',
    },
  });
}
