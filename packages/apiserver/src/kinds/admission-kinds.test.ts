import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';
import { faultsOf, patchFaultsOf } from './testing/test-faults.ts';

const GROUP = 'admissionregistration.k8s.io/v1';
const WEBHOOK = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1/x' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
};
const MATCH = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
};

function hook(more: object): KubeObject {
  return { webhooks: [{ ...WEBHOOK, ...more }] };
}

const REFUSED: readonly (readonly [name: string, resource: string, object: KubeObject, ...faults: string[]])[] = [
  [
    'an empty webhook',
    'validatingwebhookconfigurations',
    { webhooks: [{}] },
    'webhooks[0].name: Required value',
    'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
  ],
  [
    'an URL that says too much',
    'validatingwebhookconfigurations',
    hook({ clientConfig: { url: 'http://u:p@h/x?q=1#f' } }),
    'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "q=1": query parameters are not permitted in the URL',
  ],
  [
    'rules with more than everything',
    'mutatingwebhookconfigurations',
    hook({
      rules: [{ operations: ['X', '*'], apiGroups: ['*', 'a'], apiVersions: [], resources: ['a/*', 'a/b', '*', 'c'] }],
    }),
    'webhooks[0].rules[0].operations: Invalid value: ["X","*"]: if \'*\' is present, must not specify other operations',
    'webhooks[0].rules[0].operations[0]: Unsupported value: "X": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    'webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
    'webhooks[0].rules[0].apiVersions: Required value',
    'webhooks[0].rules[0].resources[1]: Invalid value: "a/b": if \'a/*\' is present, must not specify a/b',
    'webhooks[0].rules[0].resources: Invalid value: ["a/*","a/b","*","c"]: if \'*\' is present, must not specify other resources without subresources',
  ],
  [
    'a path of a service with a gap',
    'validatingwebhookconfigurations',
    hook({ clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//B/' } } }),
    'webhooks[0].clientConfig.service.path: Invalid value: "/a//B/": segment[1] may not be empty',
    "webhooks[0].clientConfig.service.path: Invalid value: \"/a//B/\": segment[2]: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  [
    'a policy of nothing',
    'validatingadmissionpolicies',
    { spec: {} },
    'spec.matchConstraints: Required value',
    'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
  ],
  [
    'parameters of no kind, and a variable that is a word of CEL',
    'validatingadmissionpolicies',
    {
      spec: {
        matchConstraints: MATCH,
        paramKind: { apiVersion: 'a/b/c', kind: 'X_' },
        variables: [{ name: 'in', expression: '1' }],
        validations: [{ expression: ' ', message: 'a\nb', reason: 'Nope' }],
      },
    },
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    "spec.paramKind.kind: Invalid value: \"X_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    'spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier',
    'spec.validations[0].expression: Required value: expression is not specified',
    'spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks',
    'spec.validations[0].reason: Unsupported value: "Nope": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  ],
  [
    'a mutation of nothing',
    'mutatingadmissionpolicies',
    { spec: { mutations: [] } },
    'spec.matchConstraints: Required value',
    'spec.mutations: Required value: mutations must contain at least one item',
    'spec.reinvocationPolicy: Required value',
  ],
  [
    'a binding that denies and warns',
    'validatingadmissionpolicybindings',
    { spec: { policyName: 'p', validationActions: ['Deny', 'Warn'], paramRef: {} } },
    'spec.paramRef: Required value: one of name or selector must be specified',
    'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
  ],
];

describe('kinds of admission refuse', () => {
  for (const [name, resource, object, ...faults] of REFUSED) {
    test(name, async () => {
      await using t = await openTestRegistry();
      assert.deepEqual(await faultsOf(t, `${GROUP}/${resource}`, object), faults);
    });
  }
});

test('webhooks have names of their own, of which an update cannot make two alike', async () => {
  await using t = await openTestRegistry();
  const place = `${GROUP}/validatingwebhookconfigurations`;
  await t.create(place, { metadata: { name: 'x' }, webhooks: [WEBHOOK] });
  assert.deepEqual(await patchFaultsOf(t, place, { body: { webhooks: [WEBHOOK, WEBHOOK] } }), [
    'webhooks[1].name: Duplicate value: "a.example.com"',
  ]);
});
