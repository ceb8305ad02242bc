import { constantText } from './constant-text.js';
import { slowSearch } from './search-time.js';

const REMEDY = 'Measure or split the text instead, or anchor the expression.';

/**
 * Refuses regular expressions that can take more than linear time: a caller's text of some hundred KiB would stop the process.
 *
 * L1  Every literal is analysed, including the search from each start that an expression without an anchor makes.
 * L2  `RegExp(…)` is analysed if its text is constant within the file, and refused if it is not.
 */
export const linearExpression = {
  /** @param {any} context */
  create(context) {
    /** @param {any} node */
    const checkCall = (node) => {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return;
      const [pattern, flags] = node.arguments;
      const scope = context.sourceCode.getScope(node);
      const text = pattern && constantText(pattern, scope);
      const options = flags ? constantText(flags, scope) : (pattern?.regex?.flags ?? '');
      if (text === undefined || options === undefined) {
        context.report({
          node,
          message: `This expression is not built from constant text, so nobody can tell how long it takes. ${REMEDY}`,
        });
        return;
      }
      check(node, text, options);
    };
    /** @param {any} node @param {string} pattern @param {string} flags */
    const check = (node, pattern, flags) => {
      const fault = slowSearch(pattern, flags);
      if (fault !== undefined) context.report({ node, message: `This expression ${fault}. ${REMEDY}` });
    };
    return {
      /** @param {any} node */
      Literal(node) {
        if (node.regex) check(node, node.regex.pattern, node.regex.flags);
      },
      NewExpression: checkCall,
      CallExpression: checkCall,
    };
  },
};

export default { meta: { name: 'asterism' }, rules: { 'linear-expression': linearExpression } };
