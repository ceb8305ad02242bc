import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { validateDns1123Subdomain, validateLabelValue } from '@asterism/machinery';
import fc from 'fast-check';
import { bindingName, digestedName, managedLabelValue, workName } from './binding-name.ts';

const template = (name: string, kind = 'Deployment', apiVersion = 'apps/v1') => ({ apiVersion, kind, name });

describe('names', () => {
  test('a binding is named after its template', () => {
    assert.equal(bindingName(template('web')), 'web-deployment');
  });

  test('another group, the same name and kind', () => {
    const ours = digestedName(template('db', 'Cluster', 'a.example.com/v1'));
    assert.match(ours, /^db-cluster-[0-9a-f]{10}$/);
    assert.notEqual(ours, digestedName(template('db', 'Cluster', 'b.example.com/v1')));
    assert.equal(ours, digestedName(template('db', 'Cluster', 'a.example.com/v2')), 'a version is no identity');
  });

  test('a Work of a namespace, of none, and of none that looks like one', () => {
    assert.equal(workName({ namespace: 'demo', name: 'web-deployment' }), 'demo.web-deployment');
    assert.equal(workName({ name: 'web-clusterrole' }), 'web-clusterrole');
    assert.notEqual(workName({ name: 'demo.web-deployment' }), 'demo.web-deployment');
  });

  const names = fc.string({ minLength: 1, maxLength: 400 });
  test('whatever the template is called, all names are valid and differ', () => {
    fc.assert(
      fc.property(names, names, (a, b) => {
        const [first, second] = [a, b].map((name) =>
          bindingName(template(name, 'ClusterRole', 'rbac.authorization.k8s.io/v1')),
        );
        assert.deepEqual(validateDns1123Subdomain(first as string), [], first);
        if (a !== b) assert.notEqual(first, second);
        const work = workName({ namespace: 'n'.repeat(63), name: first as string });
        assert.deepEqual(validateDns1123Subdomain(work), [], work);
        assert.deepEqual(validateLabelValue(managedLabelValue(work)), []);
      }),
    );
  });
});
