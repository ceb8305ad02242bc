export { type Member, type MemberOptions, startMember } from './member.ts';
export type { NodeShape } from './nodes/node-shape.ts';
