import { testCells } from './testing/test-cells.ts';

testCells([
  [
    'ValidatingAdmissionPolicyBinding with parameters by name',
    'admissionregistration.k8s.io',
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { name: 'x' } } },
    { PolicyName: 'p', ParamRef: '*/x' },
  ],
  [
    'ValidatingAdmissionPolicyBinding with parameters by label',
    'admissionregistration.k8s.io',
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { selector: { matchLabels: { b: '2', a: '1' } } } } },
    {
      ParamRef:
        '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}',
    },
  ],
  [
    'ResourceClaim in use',
    'resource.k8s.io',
    'ResourceClaim',
    { status: { allocation: {}, reservedFor: [{}] } },
    { State: 'allocated,reserved' },
  ],
  [
    'FlowSchema',
    'flowcontrol.apiserver.k8s.io',
    'FlowSchema',
    {
      spec: {
        priorityLevelConfiguration: { name: 'system' },
        matchingPrecedence: 500,
        distinguisherMethod: { type: 'ByUser' },
      },
      status: { conditions: [{ type: 'Dangling', status: 'False' }] },
    },
    { PriorityLevel: 'system', MatchingPrecedence: 500, DistinguisherMethod: 'ByUser', MissingPL: 'False' },
  ],
]);
