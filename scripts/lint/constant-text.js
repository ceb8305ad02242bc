/**
 * The text that an expression of a source file always has: a literal, a template, a sum or an array's `join` of such, or a
 * `const` of the same file that holds one. Undefined if it depends on anything else.
 *
 * @param {any} node
 * @param {any} scope
 * @returns {string | undefined}
 */
export function constantText(node, scope) {
  switch (node.type) {
    case 'Literal':
      return node.regex?.pattern ?? String(node.value);
    case 'TemplateLiteral':
      return templateText(node, scope, 'cooked');
    case 'TaggedTemplateExpression':
      return isStringRaw(node.tag) ? templateText(node.quasi, scope, 'raw') : undefined;
    case 'BinaryExpression':
      return node.operator === '+' ? joined([node.left, node.right], '', scope) : undefined;
    case 'MemberExpression':
      return !node.computed && node.property.name === 'source' ? constantText(node.object, scope) : undefined;
    case 'TSAsExpression':
      return constantText(node.expression, scope);
    case 'CallExpression':
      return callText(node, scope);
    case 'Identifier': {
      const value = initialiserOf(node.name, scope);
      return value && constantText(value.node, value.scope);
    }
    default:
      return undefined;
  }
}

/** @param {any} node @param {any} scope @param {'cooked' | 'raw'} form */
function templateText(node, scope, form) {
  let text = '';
  for (const [index, quasi] of node.quasis.entries()) {
    text += quasi.value[form];
    if (index === node.expressions.length) break;
    const inserted = constantText(node.expressions[index], scope);
    if (inserted === undefined) return undefined;
    text += inserted;
  }
  return text;
}

/** @param {any} tag */
function isStringRaw(tag) {
  return tag.type === 'MemberExpression' && tag.object.name === 'String' && tag.property.name === 'raw';
}

/** `LIST.join('|')`, `String.fromCharCode(27)` @param {any} node @param {any} scope */
function callText({ callee, arguments: given }, scope) {
  if (callee.type !== 'MemberExpression' || given.length !== 1) return undefined;
  if (callee.object.name === 'String' && callee.property.name === 'fromCharCode') {
    return typeof given[0].value === 'number' ? String.fromCharCode(given[0].value) : undefined;
  }
  if (callee.property.name !== 'join') return undefined;
  const separator = constantText(given[0], scope);
  const named =
    callee.object.type === 'Identifier' ? initialiserOf(callee.object.name, scope) : { node: callee.object, scope };
  const list = named?.node.type === 'TSAsExpression' ? named.node.expression : named?.node;
  if (separator === undefined || list?.type !== 'ArrayExpression') return undefined;
  return joined(list.elements, separator, named?.scope);
}

/** @param {any[]} nodes @param {string} separator @param {any} scope @returns {string | undefined} */
function joined(nodes, separator, scope) {
  const texts = nodes.map((node) => node && constantText(node, scope));
  return texts.includes(undefined) ? undefined : texts.join(separator);
}

/** @param {string} name @param {any} scope */
function initialiserOf(name, scope) {
  for (let at = scope; at; at = at.upper) {
    const variable = at.set.get(name);
    if (!variable) continue;
    const [definition] = variable.defs;
    const isConst = definition?.type === 'Variable' && definition.parent?.kind === 'const';
    return isConst && definition.node.id.type === 'Identifier' && definition.node.init
      ? { node: definition.node.init, scope: at }
      : undefined;
  }
  return undefined;
}
