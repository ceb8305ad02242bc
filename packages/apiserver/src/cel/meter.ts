import type { ASTNode } from '@marcbachmann/cel-js';

/** What one evaluation may cost. A node that is evaluated costs 1, ten characters or one element that are looked at as well. */
const BUDGET = 250_000;
/** Of one question to the authorizer: about as much of the whole as upstream has it. */
const AUTHORIZATION_COST = 30_000;
/** Operators and calls that look at all of their operands. */
const WHOLE_OPERANDS = new Set(['==', '!=', 'in', '+', '<', '<=', '>', '>=', 'call', 'rcall']);

/** An evaluation that cost too much. */
export class CostExceeded extends Error {
  override readonly name = 'CostExceeded';

  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** What `@marcbachmann/cel-js` evaluates with. */
export interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
}

/** Counts what evaluations cost, one after the other, and ends one that costs too much. */
export class Meter {
  #left = BUDGET;
  #exceeded: CostExceeded | undefined;
  readonly #measured = new WeakSet<object>();

  begin(): void {
    this.#left = BUDGET;
    this.#exceeded = undefined;
  }

  /** The error of the evaluation since {@link begin}; it may have been caught on its way, as `a || b` does. */
  get exceeded(): CostExceeded | undefined {
    return this.#exceeded;
  }

  /** Has `evaluator` ask this meter for each node. */
  attach(evaluator: Evaluator): void {
    const run = evaluator.run.bind(evaluator);
    evaluator.run = (node, context) => {
      this.#charge(1);
      if (node.op === 'rcall' && node.args[0] === 'check') this.#charge(AUTHORIZATION_COST);
      const value = run(node, context);
      if (this.#measured.has(node)) this.#charge(sizeOf(value, this.#left));
      return value;
    };
  }

  /** Marks the operands of a checked expression whose size is what the operation costs. */
  measure(root: ASTNode): void {
    for (const node of nodesOf(root)) {
      if (!WHOLE_OPERANDS.has(node.op)) continue;
      for (const operand of nodesWithin(node.args)) this.#measured.add(operand);
    }
  }

  #charge(cost: number): void {
    this.#left -= cost;
    if (this.#left >= 0) return;
    this.#exceeded ??= new CostExceeded();
    throw this.#exceeded;
  }
}

/** All nodes of an expression, also those that its macros were expanded to. */
export function nodesOf(root: ASTNode): ASTNode[] {
  const found = new Set<ASTNode>([root]);
  for (const node of found) {
    const { alternate, macro } = (node as unknown as { meta: { alternate?: unknown; macro?: unknown } }).meta;
    for (const part of [node.args, alternate, macro]) for (const each of nodesWithin(part)) found.add(each);
  }
  return [...found];
}

/** The nodes that stand in a value, not those within them. */
function nodesWithin(value: unknown, depth = 0): ASTNode[] {
  if (typeof value !== 'object' || value === null || depth > 3) return [];
  if ('op' in value && 'toOldStructure' in value) return [value as ASTNode];
  if (value instanceof Map || value instanceof Uint8Array) return [];
  return Object.values(value).flatMap((each) => nodesWithin(each, depth + 1));
}

/** Characters and elements of a value, at most about `limit`. */
function sizeOf(value: unknown, limit: number): number {
  let size = 0;
  const waiting = [value];
  while (waiting.length > 0 && size <= limit) {
    const next = waiting.pop();
    size++;
    if (typeof next === 'string') size += next.length / 10;
    else if (next instanceof Map) for (const member of next.values()) waiting.push(member);
    else if (Array.isArray(next)) for (const element of next as unknown[]) waiting.push(element);
  }
  return size;
}
