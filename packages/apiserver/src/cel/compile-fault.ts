import type { ASTNode } from '@marcbachmann/cel-js';

interface CelFault extends Error {
  code?: string;
  summary?: string;
  node?: Partial<ASTNode> & { input?: string; pos?: number };
}

const ANY_EXPRESSION = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Why an expression cannot be compiled, in the words and with the pointing finger of cel-go. */
export function describeCompileFault(
  error: unknown,
  expression: string,
  isFunction: (name: string) => boolean,
): string {
  const { code = '', summary = '', message, node = {} } = error as CelFault;
  const { pos = 0 } = node;
  switch (code) {
    case 'unexpected_token':
      if (pos >= expression.trimEnd().length) return pointed(endFault(expression), expression, expression.length);
      break;
    case 'unexpected_character':
      return pointed(`Syntax error: token recognition error at: '${expression[pos] ?? ''}'`, expression, pos);
    case 'unknown_variable':
      return pointed(`undeclared reference to '${textOf(node.args)}' (in container '')`, expression, pos);
    case 'no_such_key':
      return pointed(
        `undefined field '${textOf((node.args as unknown[] | undefined)?.[1])}'`,
        expression,
        dotOf(node, expression),
      );
    case 'no_such_overload':
      return overloadFault(summary, node, expression);
    case 'no_matching_overload':
      return callFault(summary, node, expression, isFunction);
    default:
  }
  return pointed(`${isSyntax(error) ? 'Syntax error: ' : ''}${summary || message}`, expression, pos);
}

/** `ERROR: <input>:1:6: …`, the line, and dots that lead to the place. */
export function pointed(what: string, expression: string, at: number): string {
  const before = expression.slice(0, at);
  const lines = before.split('\n');
  const column = lines.at(-1)!.length;
  const line = expression.split('\n')[lines.length - 1] ?? '';
  return `ERROR: <input>:${lines.length}:${column + 1}: ${what}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function isSyntax(error: unknown): boolean {
  return (error as Error).name === 'ParseError';
}

function endFault(expression: string): string {
  const first = /[\w)]\s*\(\s*$/.test(expression)
    ? "{'[', '{', '(', ')', '.', '-', '!', "
    : "{'[', '{', '(', '.', '-', '!', ";
  return `Syntax error: mismatched input '<EOF>' expecting ${first}${ANY_EXPRESSION}`;
}

/** `no such overload: int == string`, and the operator's own place. */
function overloadFault(summary: string, node: NonNullable<CelFault['node']>, expression: string): string {
  const operator = node.op ?? '';
  const types = summary.replace('no such overload: ', '');
  const binary = types.split(` ${operator} `);
  const operands = binary.length === 2 ? binary : [types.slice(1)];
  const name = binary.length === 2 ? (operator === 'in' ? '@in' : `_${operator}_`) : `${operator[0]}_`;
  const [left] = Array.isArray(node.args) ? (node.args as ASTNode[]) : [];
  const at = left === undefined ? (node.pos ?? 0) : expression.indexOf(operator, left.end);
  const what = `found no matching overload for '${name}' applied to '(${operands.map(typeName).join(', ')})'`;
  return pointed(what, expression, at < 0 ? (node.pos ?? 0) : at);
}

/** `found no matching overload for 'string.size(int)'`: a function that nobody knows, or one for other types. */
function callFault(
  summary: string,
  node: NonNullable<CelFault['node']>,
  expression: string,
  isFunction: (name: string) => boolean,
): string {
  const { called, types } = calledWith(summary);
  const isMethod = node.op === 'rcall';
  const name = isMethod ? called.slice(called.lastIndexOf('.') + 1) : called;
  const receiver = isMethod ? called.slice(0, called.lastIndexOf('.')) : '';
  const receiverNode = isMethod ? (node.args as unknown as [string, ASTNode])[1] : undefined;
  const open = expression.indexOf('(', receiverNode ? expression.indexOf(name, receiverNode.end) : (node.pos ?? 0));
  const at = open < 0 ? (node.pos ?? 0) : open;
  if (!isFunction(name)) return pointed(`undeclared reference to '${name}' (in container '')`, expression, at);
  const shown = types === '' ? '' : types.split(', ').map(typeName).join(', ');
  const applied = isMethod ? `${typeName(receiver)}.(${shown})` : `(${shown})`;
  return pointed(`found no matching overload for '${name}' applied to '${applied}'`, expression, at);
}

/** The function's name and the types of its arguments, from the text in quotes at the end. */
function calledWith(summary: string): { called: string; types: string } {
  const quote = summary.indexOf("'");
  const open = quote < 0 ? -1 : summary.indexOf('(', quote);
  if (open < 0 || !summary.endsWith(")'") || open > summary.length - 3) return { called: '', types: '' };
  return { called: summary.slice(quote + 1, open), types: summary.slice(open + 1, -2) };
}

function dotOf(node: NonNullable<CelFault['node']>, expression: string): number {
  const [left] = (node.args ?? []) as ASTNode[];
  const at = left === undefined ? -1 : expression.indexOf('.', left.end);
  return at < 0 ? (node.pos ?? 0) : at;
}

/** `list<string>` as cel-go writes it. */
function typeName(type: string): string {
  return type.replaceAll('<', '(').replaceAll('>', ')').trim();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
