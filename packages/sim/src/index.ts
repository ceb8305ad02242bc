export { type Kubelet, type KubeletOptions, startKubelet } from './kubelet/kubelet.ts';
export { type ConnectedPod, kubeletConnects, type KubeletConnectsOptions } from './kubelet/kubelet-connects.ts';
export { createContainerRuntime } from './machine/create-container-runtime.ts';
export type {
  ContainerRef,
  ContainerRuntime,
  ContainerUsage,
  ExecOptions,
  LogOptions,
  NodeBackend,
  PodRef,
  Process,
  RunningContainer,
  RuntimeContainer,
} from './machine/container-runtime.ts';
export { type Member, type MemberOptions, startMember } from './member.ts';
export { FAILED_ANNOTATION } from './nodes/node-failure.ts';
export type { NodeShape } from './nodes/node-shape.ts';
