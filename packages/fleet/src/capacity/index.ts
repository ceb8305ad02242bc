export * from './amounts.ts';
export { estimateReplicas, replicaCounter, type ReplicaNeeds } from './estimate-replicas.ts';
export { matchesClaim, type NodeClaim, nodeClaimOf } from './node-claim.ts';
export { podRequests } from './pod-requests.ts';
export { type FreeNode, type NodeCapacity, summarizeNodes } from './summarize-nodes.ts';
