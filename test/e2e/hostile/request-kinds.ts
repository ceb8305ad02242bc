/** Whether the path is that of a watch. */
export const isWatch = (path: string): boolean => /[?&]watch=true/.test(path);

/** Whether the path is that of a list, as informers read it: page by page. */
export const isList = (path: string): boolean => path.includes('limit=') && !isWatch(path);

/** Whether the path is that of discovery or OpenAPI. */
export const isDiscovery = (path: string): boolean => /^\/apis?(\/[^?]*)?$/.test(path) || path.startsWith('/openapi');
