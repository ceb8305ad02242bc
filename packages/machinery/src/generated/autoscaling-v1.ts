// Generated from data/kubernetes-1.36.json (v1.36.2) by generator/main.ts: do not edit, run `npm run generate`.
import type { ObjectMeta } from '../object.ts';

export interface CrossVersionObjectReferenceV1 {
  apiVersion?: string;
  kind: string;
  name: string;
}

export interface HorizontalPodAutoscalerSpecV1 {
  maxReplicas: number;
  minReplicas?: number;
  scaleTargetRef: CrossVersionObjectReferenceV1;
  targetCPUUtilizationPercentage?: number;
}

export interface HorizontalPodAutoscalerStatusV1 {
  currentCPUUtilizationPercentage?: number;
  currentReplicas: number;
  desiredReplicas: number;
  lastScaleTime?: string;
  observedGeneration?: number;
}

export type HorizontalPodAutoscalerV1 = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: HorizontalPodAutoscalerSpecV1;
  status?: HorizontalPodAutoscalerStatusV1;
};

export type Scale = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec?: ScaleSpec;
  status?: ScaleStatus;
};

export interface ScaleSpec {
  replicas?: number;
}

export interface ScaleStatus {
  replicas: number;
  selector?: string;
}
