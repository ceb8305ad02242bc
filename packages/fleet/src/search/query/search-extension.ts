import { wallNow } from '@asterism/client';
import type { ApiExtension, ApiResponse, ExtensionContext } from '@asterism/apiserver';
import { badRequest, failure, formatApiVersion, formatGroupResource, notFound } from '@asterism/machinery';
import type { Query, SearchStore } from '@asterism/store';
import { CLUSTERS, SEARCH_GROUP, SEARCH_PATH, VERSION } from '../../api/index.ts';
import type { SearchableResource, SearchCatalogue } from '../search-catalogue.ts';
import { answerJson, answerList } from './answer-list.ts';
import { authorizeSearch, type GrantedScope } from './authorize-search.ts';
import { aggregatedDocument, discoveryDocument } from './discovery-document.ts';
import { type ObjectForm, plainForm, tableForm } from './object-form.ts';
import { type DiscoveryPath, type ObjectsPath, parseSearchPath } from './parse-search-path.ts';
import { parseSearchQuery, type SearchParameters } from './parse-search-query.ts';
import { AGGREGATED_DISCOVERY, chooseRepresentation } from './representation.ts';
import { searchPages } from './search-pages.ts';
import { searchWarnings } from './search-warnings.ts';

export interface SearchExtensionOptions {
  store: SearchStore;
  /** What there is to search; see `addSearchSync`. */
  catalogue: SearchCatalogue;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/**
 * `search.asterism.dev`: the objects of all members, from the store, as if one API server had them.
 *
 * Below `resources` stand the paths of any API server, for get and list: `resources/api/v1/namespaces/demo/pods` are the pods of
 * all clusters, `resources/clusters/NAME/apis/apps/v1/deployments` the Deployments of one. A single object is asked for within one
 * cluster. Discovery stands there too, so that `kubectl --server https://HUB/apis/search.asterism.dev/v1alpha1/resources` works.
 *
 * A list is JSON, each object with the annotation {@link SEARCH_CLUSTER_ANNOTATION}, or a Table with the cluster in its first
 * column. Parameters: {@link parseSearchQuery}; who may ask: {@link authorizeSearch}. What is not as asked for is said in a
 * `Warning` header: clusters that may not be searched, that do not index the resource, or that are not followed at the moment.
 */
export function searchExtension({ store, catalogue, now = wallNow }: SearchExtensionOptions): ApiExtension {
  return {
    group: SEARCH_GROUP,
    version: VERSION,
    resources: [
      {
        resource: 'resources',
        singular: 'resource',
        kind: 'Resources',
        namespaced: false,
        verbs: ['get', 'list'],
        authorization: 'handler',
        handle: (context) => new Search(context, store, catalogue, now).answer(),
      },
    ],
  };
}

class Search {
  readonly #context: ExtensionContext;
  readonly #store: SearchStore;
  readonly #catalogue: SearchCatalogue;
  readonly #now: () => number;

  constructor(context: ExtensionContext, store: SearchStore, catalogue: SearchCatalogue, now: () => number) {
    this.#context = context;
    this.#store = store;
    this.#catalogue = catalogue;
    this.#now = now;
  }

  async answer(): Promise<ApiResponse> {
    const { method, path } = this.#context.request;
    if (method !== 'GET' && method !== 'HEAD') {
      throw failure(
        405,
        `search answers get and list: to change an object, ask its cluster (${method} is not allowed)`,
      );
    }
    const asked = parseSearchPath(path.startsWith(SEARCH_PATH) ? path.slice(SEARCH_PATH.length) : '');
    return asked.about === 'discovery' ? await this.#discover(asked) : await this.#search(asked);
  }

  /** Open to whoever may see discovery at all, as on any API server. It tells of kinds, not of clusters. */
  async #discover(asked: DiscoveryPath): Promise<ApiResponse> {
    const { authorize, request, user } = this.#context;
    if (!(await authorize({ verb: 'get', path: request.path })).allowed) {
      const why = `User ${JSON.stringify(user.username)} cannot get path ${JSON.stringify(request.path)}`;
      throw failure(403, `forbidden: ${why}`, { details: {} });
    }
    const isRoot = asked.group === undefined;
    const { as } = isRoot ? chooseRepresentation(request.headers.accept, 'APIGroupDiscoveryList') : { as: 'JSON' };
    const resources = this.#catalogue.resources();
    if (as === 'JSON') return answerJson(bytesOf(discoveryDocument(asked, resources)));
    return answerJson(bytesOf(aggregatedDocument(asked.root, resources)), AGGREGATED_DISCOVERY);
  }

  async #search(asked: ObjectsPath): Promise<ApiResponse> {
    const { request } = this.#context;
    const parameters = parseSearchQuery(request.query, asked);
    const { clusters, namespaces } = parameters;
    const scope = { ...asked, clusters, namespaces };
    const granted = await authorizeSearch(this.#context, scope, () => this.#catalogue.clusters());
    const type = await this.#describe(asked);
    this.#requireSense(asked, parameters, type);
    const form = this.#formOf(asked, type, parameters);
    const query = queryOf(asked, parameters, granted);
    const response =
      asked.name === undefined
        ? await answerList(searchPages(this.#store, query), form)
        : await this.#answerObject(asked, query, form);
    const warnings = searchWarnings(this.#catalogue, type, { asked: clusters, granted });
    return warnings.length === 0 ? response : { ...response, headers: { ...response.headers, warning: warnings } };
  }

  /** A kind of which only old rows are known is what these say; one that nobody knows is a 404. */
  async #describe(type: ObjectsPath): Promise<SearchableResource> {
    const described = this.#catalogue.describe(type);
    if (described) return described;
    const { group, version, resource } = type;
    const { rows } = await this.#store.query({ resources: [{ group, version, resource }], limit: 1 });
    const [row] = rows;
    if (!row) {
      const what = `${formatGroupResource(type)} in ${formatApiVersion(type)}`;
      throw failure(404, `the server could not find the requested resource: no cluster indexes ${what}`);
    }
    const { kind, namespace } = row;
    return {
      group,
      version,
      resource,
      kind,
      namespaced: namespace !== '',
      singular: '',
      shortNames: [],
      categories: [],
    };
  }

  #requireSense(
    { cluster, name }: ObjectsPath,
    { clusters, namespaces }: SearchParameters,
    type: SearchableResource,
  ): void {
    const unknown = clusters?.find((each) => !this.#catalogue.get(each));
    if (unknown !== undefined) throw notFound(CLUSTERS, unknown);
    if (namespaces && !type.namespaced) {
      throw failure(
        404,
        `the server could not find the requested resource: ${type.resource} do not live in namespaces`,
      );
    }
    if (name !== undefined && cluster === undefined) {
      throw badRequest(
        `several clusters may have ${type.resource} of the name ${JSON.stringify(name)}: ask for one within a cluster ` +
          `(resources/clusters/NAME/…), or for a list with names=${encodeURIComponent(name)}`,
      );
    }
  }

  #formOf(
    { namespace }: ObjectsPath,
    type: SearchableResource,
    { includeObject: include }: SearchParameters,
  ): ObjectForm {
    const representation = chooseRepresentation(this.#context.request.headers.accept, 'Table');
    if (representation.as !== 'Table') return plainForm(type);
    const acrossNamespaces = type.namespaced && namespace === undefined;
    const { version } = representation;
    return tableForm(this.#catalogue.printerFor(type), { version, include, acrossNamespaces, now: this.#now() });
  }

  async #answerObject(asked: ObjectsPath, query: Query, form: ObjectForm): Promise<ApiResponse> {
    const { rows } = await this.#store.query({ ...query, limit: 1 });
    if (!rows[0]) throw notFound(asked, asked.name ?? '');
    return answerJson(Buffer.concat(form.single(rows[0])));
  }
}

function queryOf(asked: ObjectsPath, parameters: SearchParameters, { clusters }: GrantedScope): Query {
  const { group, version, resource, name, namespace } = asked;
  const { includeObject: _, clusters: __, ...conditions } = parameters;
  return {
    ...conditions,
    ...(clusters ? { clusters } : {}),
    ...(name === undefined ? {} : { namespaces: [namespace ?? ''] }),
    resources: [{ group, version, resource }],
  };
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
