import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestInfo } from '../contract/request-info.ts';
import { readAuditPolicy } from './read-audit-policy.ts';
import { type AuditRule } from './audit-policy.ts';
import { ruleMatcher } from './match-rule.ts';

const HEAD = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' };

describe('a policy that is not valid is refused', () => {
  const rows: [name: string, policy: string | object, fault: string][] = [
    ['no YAML', 'rules: [', 'yaml: '],
    ['no object', '- 1', 'it is not an object'],
    [
      'of no kind',
      { rules: [{ level: 'None' }] },
      'it is of no kind: it must have apiVersion audit.k8s.io/v1 and kind Policy',
    ],
    [
      'of an old version',
      { ...HEAD, apiVersion: 'audit.k8s.io/v1beta1', rules: [{ level: 'None' }] },
      'it is "Policy" of "audit.k8s.io/v1beta1": it must',
    ],
    ['without rules', HEAD, 'loaded illegal policy with 0 rules'],
    [
      'a field twice',
      'apiVersion: audit.k8s.io/v1\nkind: Policy\nkind: Policy\nrules: []',
      '"kind" already set in map',
    ],
    ['an unknown field', { ...HEAD, rules: [{ level: 'None' }], omitStage: [] }, 'unknown field "omitStage"'],
    [
      'an unknown field of a rule and of its resources',
      { ...HEAD, rules: [{ level: 'None', user: 'x', resources: [{ groups: [] }] }] },
      'unknown field "rules[0].user"; unknown field "rules[0].resources[0].groups"',
    ],
    [
      'the name of what every object has',
      { ...HEAD, rules: [{ level: 'None', toString: 1 }] },
      'unknown field "rules[0].toString"',
    ],
    [
      'a wrong type',
      { ...HEAD, rules: [{ level: 'None', verbs: 'get' }] },
      'rules[0].verbs: must be a list of strings',
    ],
    ['rules of a wrong type', { ...HEAD, rules: ['None'] }, 'rules: must be a list of objects'],
    ['no level', { ...HEAD, rules: [{}] }, 'rules[0].level: Required value'],
    [
      'an unknown level',
      { ...HEAD, rules: [{ level: 'metadata' }] },
      'rules[0].level: Unsupported value: "metadata": supported values: "None", "Metadata", "Request", "RequestResponse"',
    ],
    [
      'an unknown stage of a rule',
      { ...HEAD, rules: [{ level: 'None', omitStages: ['Received'] }] },
      'rules[0].omitStages[0]: Invalid value: "Received": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
    ],
    [
      'an unknown stage of the policy',
      { ...HEAD, omitStages: ['x'], rules: [{ level: 'None' }] },
      'omitStages[0]: Invalid value: "x": allowed stages are',
    ],
    [
      'a path without a slash',
      { ...HEAD, rules: [{ level: 'None', nonResourceURLs: ['healthz'] }] },
      `rules[0].nonResourceURLs[0]: Invalid value: "healthz": non-resource URL rules must begin with a '/' character`,
    ],
    [
      'an asterisk in the middle',
      { ...HEAD, rules: [{ level: 'None', nonResourceURLs: ['/a*b'] }] },
      `rules[0].nonResourceURLs[0]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule`,
    ],
    [
      'paths and resources in one rule',
      { ...HEAD, rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['x'] }] },
      'rules cannot apply to both regular resources and non-resource URLs',
    ],
    [
      'a group with its version',
      { ...HEAD, rules: [{ level: 'None', resources: [{ group: 'apps/v1' }] }] },
      'rules[0].resources.group: Invalid value: "apps/v1": must be the name of an API group without its version',
    ],
    [
      'names without resources',
      { ...HEAD, rules: [{ level: 'None', resources: [{ resourceNames: ['a'] }] }] },
      'rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource',
    ],
  ];
  for (const [name, policy, fault] of rows) {
    test(name, async () => {
      await assert.rejects(readAuditPolicy(policy), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'AUDIT_POLICY');
        assert.ok(error.message.includes(fault), error.message);
        return true;
      });
    });
  }
});

describe('the first rule that fits says the level', () => {
  const rows: [name: string, rule: Partial<AuditRule>, request: string, fits: boolean][] = [
    ['a rule of nothing else', {}, 'GET /healthz', true],
    ['the user', { users: ['alice'] }, 'GET /api/v1/pods', true],
    ['another user', { users: ['bob'] }, 'GET /api/v1/pods', false],
    ['a group', { userGroups: ['x', 'devs'] }, 'GET /api/v1/pods', true],
    ['another group', { userGroups: ['ops'] }, 'GET /api/v1/pods', false],
    ['the verb of Kubernetes', { verbs: ['list'] }, 'GET /api/v1/pods', true],
    ['not the method', { verbs: ['get'] }, 'GET /api/v1/pods', false],
    ['the method of a path', { verbs: ['get'] }, 'GET /version', true],
    ['a resource', { resources: [{ group: '', resources: ['pods'] }] }, 'GET /api/v1/pods', true],
    ['no subresource of it', { resources: [{ resources: ['pods'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', false],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    ['any resource', { resources: [{ resources: ['*'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    ['the subresource of any', { resources: [{ resources: ['*/log'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    [
      'another subresource of any',
      { resources: [{ resources: ['*/status'] }] },
      'GET /api/v1/namespaces/a/pods/b/log',
      false,
    ],
    ['no subresource where one is asked for', { resources: [{ resources: ['*/status'] }] }, 'GET /api/v1/pods', false],
    ['any subresource', { resources: [{ resources: ['pods/*'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    ['a whole group', { resources: [{ group: 'apps' }] }, 'GET /apis/apps/v1/deployments', true],
    ['another group', { resources: [{ group: '' }] }, 'GET /apis/apps/v1/deployments', false],
    ['a name', { resources: [{ resources: ['pods'], resourceNames: ['b'] }] }, 'GET /api/v1/namespaces/a/pods/b', true],
    [
      'another name',
      { resources: [{ resources: ['pods'], resourceNames: ['c'] }] },
      'GET /api/v1/namespaces/a/pods/b',
      false,
    ],
    ['a namespace', { namespaces: ['a'] }, 'GET /api/v1/namespaces/a/pods', true],
    ['another namespace', { namespaces: ['b'] }, 'GET /api/v1/namespaces/a/pods', false],
    ['no namespace', { namespaces: [''] }, 'GET /api/v1/nodes', true],
    ['no namespace, where there is one', { namespaces: [''] }, 'GET /api/v1/namespaces/a/pods', false],
    ['namespaces are of no path', { namespaces: [''] }, 'GET /healthz', false],
    ['a path', { nonResourceURLs: ['/healthz'] }, 'GET /healthz', true],
    ['what a path begins with', { nonResourceURLs: ['/healthz*'] }, 'GET /healthz/etcd', true],
    ['any path', { nonResourceURLs: ['*'] }, 'GET /healthz/etcd', true],
    ['no resource', { nonResourceURLs: ['*'] }, 'GET /api/v1/pods', false],
  ];
  for (const [name, rule, request, fits] of rows) {
    test(name, async () => {
      const policy = await readAuditPolicy({ ...HEAD, rules: [{ level: 'Metadata', ...rule }] });
      const [method = '', path = ''] = request.split(' ');
      const { level } = ruleMatcher(policy)(
        { username: 'alice', groups: ['devs'] },
        requestInfo(method, path, new URLSearchParams()),
      );
      assert.equal(level, fits ? 'Metadata' : 'None');
    });
  }

  test('a rule for users does not fit somebody unknown', async () => {
    const policy = await readAuditPolicy({
      ...HEAD,
      rules: [
        { level: 'Request', users: ['alice'] },
        { level: 'Request', userGroups: ['devs'] },
        { level: 'Metadata' },
      ],
    });
    assert.equal(ruleMatcher(policy)(undefined, requestInfo('GET', '/api', new URLSearchParams())).level, 'Metadata');
  });

  test('stages are left out by the rule and by the policy; managed fields as the rule says, then the policy', async () => {
    const policy = await readAuditPolicy({
      ...HEAD,
      metadata: { creationTimestamp: null },
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'Request', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false },
        { level: 'Metadata', users: null },
      ],
    });
    const match = (method: string) => ruleMatcher(policy)(undefined, requestInfo(method, '/x', new URLSearchParams()));
    assert.deepEqual(match('GET'), {
      level: 'Request',
      omitStages: new Set(['RequestReceived', 'Panic']),
      omitManagedFields: false,
    });
    assert.deepEqual(match('POST'), {
      level: 'Metadata',
      omitStages: new Set(['RequestReceived']),
      omitManagedFields: true,
    });
  });
});
