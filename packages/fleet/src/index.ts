export * from './api/index.ts';
export * from './template/index.ts';
export * from './deliver/index.ts';
export * from './place/index.ts';
export * from './join/index.ts';
export * from './reach/index.ts';
