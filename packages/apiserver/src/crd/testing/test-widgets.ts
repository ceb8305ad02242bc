import { type KubeObject, type OpenApiSchema } from '@asterism/machinery';
import type { TestRegistry } from '../../compose/testing/test-registry.ts';
import type { CustomResourceDefinition, DefinitionVersion } from '../custom-resource-definition.ts';

export const DEFINITIONS = 'apiextensions.k8s.io/v1/customresourcedefinitions';
export const WIDGETS = 'example.com/v1/widgets';
export const NAMESPACE = { namespace: 'default' };

export const SCHEMA: OpenApiSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        colour: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        replicas: { type: 'integer' },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, ready: { type: 'boolean' } } },
  },
};

export function definition(
  version: Partial<DefinitionVersion> = {},
  more: Partial<CustomResourceDefinition['spec'] & object> = {},
): KubeObject {
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA }, ...version }],
      ...more,
    },
  };
}

export function widget(name: string, spec: object = { size: 1 }): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec };
}

/** Resolves when `condition` holds, which only a change of what is stored or served can bring about. */
export async function until(t: TestRegistry, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const stops = [t.registry.onChange(resolve), t.registry.observe(() => resolve())];
    try {
      if (await condition()) return;
      await changed;
    } finally {
      for (const stop of stops) stop();
    }
  }
}

export async function define(t: TestRegistry, object: KubeObject): Promise<void> {
  await t.create(DEFINITIONS, object);
  const [plural = '', ...group] = (object.metadata?.name ?? '').split('.');
  await until(t, () =>
    t.registry.served().some(({ type }) => type.resource === plural && type.group === group.join('.')),
  );
}

export async function patchDefinition(t: TestRegistry, body: object, name = 'widgets.example.com'): Promise<void> {
  await t.registry.patch(t.resource(DEFINITIONS), { name }, { type: 'merge', body }, t.context());
}
