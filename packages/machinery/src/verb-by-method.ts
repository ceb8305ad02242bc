/**
 * The verb of a request for a resource by its HTTP method, as upstream's RequestInfo has it before it looks at the path: without a
 * name there, `get` is `list` or `watch`, and `delete` is `deletecollection`. A method that is not here has none.
 */
export const VERB_BY_METHOD: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
