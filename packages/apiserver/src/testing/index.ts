export type { AnswerFault, FailureOptions, Injected, RequestFault } from './fault.ts';
export type { Faults } from './faults.ts';
export type { DefinitionSource } from './install-definitions.ts';
export type { RequestMatch, SeenRequest } from './seen-request.ts';
export { type FaultyTestServer, startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';
export type { TestUser, TestUserOptions } from './test-user.ts';
export { untilObject, type UntilObjectOptions } from './until-object.ts';
