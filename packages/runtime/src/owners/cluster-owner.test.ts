import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONFIG_MAPS, DEPLOYMENTS, type KubeObject } from '@asterism/machinery';
import {
  clusterOwnerOf,
  markOwned,
  OWNER_ANNOTATION,
  OWNER_DOMAIN_LABEL,
  OWNER_UID_LABEL,
  ownedSelector,
  ownerRequests,
} from './cluster-owner.ts';

const owner = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'n', name: 'web', uid: 'u-1' } };
const domain = 'here.example.dev';
const marked = (): KubeObject => markOwned<KubeObject>({ metadata: { name: 'x' } }, { domain, owner, cluster: 'east' });

describe('an owner in another cluster', () => {
  test('is marked beside what is there, and found again', () => {
    const object = { metadata: { name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } }, data: { e: 'f' } };
    const owned = markOwned(object, { domain, owner, cluster: 'east' });
    assert.deepEqual(clusterOwnerOf(owned, domain), {
      cluster: 'east',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'n',
      name: 'web',
      uid: 'u-1',
    });
    assert.deepEqual([owned.metadata.labels.a, owned.metadata.annotations.c, owned.data], ['b', 'd', { e: 'f' }]);
    assert.deepEqual(object.metadata.labels, { a: 'b' });
  });

  const without = (key: string): KubeObject => {
    const { metadata: { labels = {}, annotations = {} } = {} } = marked();
    const rest = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).filter(([each]) => each !== key));
    return { metadata: { labels: rest(labels), annotations: rest(annotations) } };
  };
  const annotated = (text: string): KubeObject => {
    const { metadata } = marked();
    return { metadata: { ...metadata, annotations: { [OWNER_ANNOTATION]: text } } };
  };
  const none: { name: string; object: KubeObject; domain?: string }[] = [
    { name: 'no marks', object: { metadata: { name: 'x' } } },
    { name: 'another domain', object: marked(), domain: 'there.example.dev' },
    { name: 'no domain', object: without(OWNER_DOMAIN_LABEL) },
    { name: 'no uid', object: without(OWNER_UID_LABEL) },
    { name: 'no annotation', object: without(OWNER_ANNOTATION) },
    { name: 'an annotation that is no JSON', object: annotated('{') },
    { name: 'one that is no object', object: annotated('[]') },
    { name: 'one without a name', object: annotated('{"cluster":"","apiVersion":"v1","kind":"X"}') },
    { name: 'one with a wrong type', object: annotated('{"cluster":1,"apiVersion":"v1","kind":"X","name":"x"}') },
  ];
  for (const { name, object, domain: asked = domain } of none) {
    test(`is none: ${name}`, () => assert.equal(clusterOwnerOf(object, asked), undefined));
  }

  test('is asked for by what it owns, if it is of that kind, in whatever version', () => {
    const other = markOwned<KubeObject>({}, { domain, owner: { ...owner, apiVersion: 'apps/v1beta1' } });
    const requests = ownerRequests(DEPLOYMENTS, domain);
    assert.deepEqual(requests(marked()), [{ cluster: 'east', namespace: 'n', name: 'web' }]);
    assert.deepEqual(requests(other), [{ cluster: '', namespace: 'n', name: 'web' }]);
    assert.deepEqual(ownerRequests(CONFIG_MAPS, domain)(marked()), []);
    assert.deepEqual(requests({}), []);
  });

  test('must be one that was read, and its domain a label', () => {
    const unread = { ...owner, metadata: { name: 'web' } };
    assert.throws(() => markOwned({}, { domain, owner: unread }), /Deployment "web" cannot own: it needs .* uid/);
    for (const bad of ['', 'a b', 'x'.repeat(64)]) {
      assert.throws(() => markOwned({}, { domain: bad, owner }), /the domain ".*" of owners is no good/);
      assert.throws(() => ownedSelector(bad), TypeError);
    }
    assert.equal(ownedSelector(domain), `${OWNER_DOMAIN_LABEL}=${domain}`);
  });
});
