import { type ApiExtension, type ForwardedResource, forwardGroupVersion } from '@asterism/apiserver';
import type { Client } from '@asterism/client';
import { customResourceDefinitions, GROUP, VERSION } from '@asterism/fleet/api';
import { ensureTemplateNamespace } from '@asterism/fleet/template';
import { type CustomResourceDefinition, isNotFound, NAMESPACES, type OpenApiSchema } from '@asterism/machinery';
import { withStrictFields } from './strict-fields.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/**
 * `asterism.dev` at the address of the templates: every call goes to the host, as its caller. So that an application and its
 * policy can be applied together, a namespace that the templates' API server has is made in the host too, when something is
 * created in it there. And nothing that a caller writes is dropped in silence, however old the host is.
 */
export async function forwardedKinds(options: { host: Client; templates: () => Client }): Promise<ApiExtension> {
  const { host, templates } = options;
  const definitions = await customResourceDefinitions();
  const forwarded = forwardGroupVersion({
    group: GROUP,
    version: VERSION,
    transport: host.transport,
    resources: definitions.map(forwardedResource),
    async beforeCreate({ namespace, request }) {
      if (namespace === undefined || request.query.has('dryRun')) return;
      if (await isThere(templates(), namespace)) await ensureTemplateNamespace(host, namespace, request.signal);
    },
  });
  const resources = forwarded.resources.map((each) => (each.schema ? withStrictFields(each, each.schema) : each));
  return { ...forwarded, resources };
}

function forwardedResource({ spec }: CustomResourceDefinition): ForwardedResource {
  const { plural, singular, kind, shortNames, categories } = spec.names;
  const version = spec.versions.find(({ name }) => name === VERSION);
  const schema = version?.schema?.openAPIV3Schema as OpenApiSchema | undefined;
  return {
    resource: plural,
    singular: singular ?? kind.toLowerCase(),
    kind,
    namespaced: spec.scope === 'Namespaced',
    verbs: VERBS,
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
    ...(version?.subresources?.status ? { subresources: [{ name: 'status', kind, verbs: SUBRESOURCE_VERBS }] } : {}),
    ...(schema ? { schema } : {}),
  };
}

async function isThere(templates: Client, name: string): Promise<boolean> {
  try {
    await templates.resource(NAMESPACES).get({ name });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
