export { addAmounts, type Amounts, formatAmount, formatAmounts, readAmount, readAmounts } from './amounts.ts';
export { estimateReplicas, replicaCounter } from './estimate-replicas.ts';
export { type NodeClaim, nodeClaimOf } from './node-claim.ts';
export { podRequests } from './pod-requests.ts';
export { summarizeNodes } from './summarize-nodes.ts';
