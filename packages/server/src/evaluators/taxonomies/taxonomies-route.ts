import {
  defaultRevisionLimit,
  ErrorTaxonomyRemoveLabelsRequest,
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListQuery,
  ErrorTaxonomyRevisionListResponse,
  ErrorTaxonomyRevisionPath,
  ErrorTaxonomySetLabelsRequest,
  isTrueWord,
} from "@presage/contract";
import { errorResponse, noSuch, pageTooLarge, response } from "../../http/describe.ts";
import type { HttpServices } from "../../http/exchange.ts";
import { readPage } from "../../http/request.ts";
import { streamList } from "../../http/response.ts";
import { type Input, reply, route } from "../../http/route.ts";
import { InvalidRequestError, missing, valueError } from "../../http/validate.ts";
import { notFound } from "../../platform/errors.ts";
import { parseStored } from "../../platform/json.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import type { Store } from "../../platform/storage/store.ts";
import examples from "../examples.json" with { type: "json" };
import {
  createRevision,
  getRevision,
  listRevisions,
  type NewRevision,
  removeLabels,
  setLabels,
} from "./taxonomies.ts";
import type { TaxonomyRevision, TaxonomyRevisionFilter } from "./taxonomies-store.ts";

interface TaxonomyServices {
  store: Store;
}

const path = "/v1/error-taxonomy-revision";

const revision = { "200": response("The revision", ErrorTaxonomyRevision, examples.taxonomy) };
export const revisionNotFound = noSuch("revision", "revision of an error taxonomy");
const builtIn = {
  "409": errorResponse(
    "The revision is built-in and cannot be changed",
    "A built-in error taxonomy cannot be changed.",
  ),
};

const listOfRevisions = route("GET", path, {
  needs: "read",
  id: "listErrorTaxonomyRevisions",
  summary: "List revisions",
  description: "Lists the revisions of the account's taxonomies and of the built-in ones.",
  query: ErrorTaxonomyRevisionListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The revisions, newest first", ErrorTaxonomyRevisionListResponse, {
      data: [examples.taxonomy],
    }),
    ...pageTooLarge,
  },
  async handle(services: TaxonomyServices & Pick<HttpServices, "log">, { call, requester, query }) {
    const revisions = await listRevisions(services, requester, toFilter(query));
    const name: keyof ErrorTaxonomyRevisionListResponse = "data";
    return await streamList(services, call, name, revisions, toJson);
  },
});

const create = route("POST", path, {
  needs: "evaluate",
  id: "createErrorTaxonomyRevision",
  summary: "Create a revision, and its taxonomy if it is new",
  description:
    "Adds a revision to a taxonomy, which is named by id or by name. If no taxonomy has this name, it is created. Profiles of the family `error-taxonomy` refer to a taxonomy by name and to a revision by label.",
  body: ErrorTaxonomyRevisionCreateRequest,
  bodyExample: examples.newTaxonomy,
  isExact: true,
  once: "create error taxonomy revision",
  responses: {
    "201": response("The new revision", ErrorTaxonomyRevisionCreateResponse, {
      error_taxonomy_revision: examples.taxonomy,
    }),
    "404": errorResponse("The account has no taxonomy with this id", "There is no such error taxonomy."),
    "409": errorResponse(
      "The account already has a taxonomy of this name, or the name begins with `system:`, which is reserved for built-in taxonomies",
      "An error taxonomy of this name already exists.",
    ),
  },
  async handle(services: TaxonomyServices, { requester, body, once }) {
    const made = await createRevision(services, requester, toNewRevision(body), once);
    return reply(201, { error_taxonomy_revision: toResponse(made) });
  },
});

const showRevision = route("GET", `${path}/:revision_id`, {
  needs: "read",
  id: "getErrorTaxonomyRevision",
  summary: "Show a revision",
  description: "Shows a revision of one of the account's taxonomies, or of a built-in one.",
  params: ErrorTaxonomyRevisionPath,
  responses: { ...revision, ...revisionNotFound },
  async handle({ store }: TaxonomyServices, { requester, params }) {
    const revisionId = params.revision_id.toLowerCase();
    return reply(200, toResponse(await getRevision(store.database, requester.accountId, revisionId)));
  },
});

const setLabelsOfRevision = route("POST", `${path}/:revision_id/set-labels`, {
  needs: "evaluate",
  id: "setErrorTaxonomyLabels",
  summary: "Set labels on a revision",
  description:
    "Sets labels, which move here if another revision of the taxonomy has them. Other labels stay.",
  params: ErrorTaxonomyRevisionPath,
  body: ErrorTaxonomySetLabelsRequest,
  bodyExample: { labels: ["production"] },
  responses: { ...revision, ...revisionNotFound, ...builtIn },
  handle: (services: TaxonomyServices, input) => changeLabels(services, input, setLabels),
});

const removeLabelsOfRevision = route("POST", `${path}/:revision_id/remove-labels`, {
  needs: "evaluate",
  id: "removeErrorTaxonomyLabels",
  summary: "Remove labels from a revision",
  description: "Removes labels. Labels that the revision does not have are ignored.",
  params: ErrorTaxonomyRevisionPath,
  body: ErrorTaxonomyRemoveLabelsRequest,
  bodyExample: { labels: ["draft"] },
  responses: { ...revision, ...revisionNotFound, ...builtIn },
  handle: (services: TaxonomyServices, input) => changeLabels(services, input, removeLabels),
});

export const errorTaxonomyRoutes = [
  listOfRevisions,
  create,
  showRevision,
  setLabelsOfRevision,
  removeLabelsOfRevision,
];

async function changeLabels(
  services: TaxonomyServices,
  {
    requester,
    params,
    body: { account_id, labels },
  }: Input<typeof ErrorTaxonomyRevisionPath, undefined, typeof ErrorTaxonomyRemoveLabelsRequest>,
  change: typeof setLabels,
) {
  const { accountId } = requester;
  if ((account_id ?? accountId).toLowerCase() !== accountId) {
    throw notFound("account");
  }
  const changed = await change(services, requester, params.revision_id.toLowerCase(), labels);
  return reply(200, toResponse(changed));
}

function toFilter(query: ErrorTaxonomyRevisionListQuery): TaxonomyRevisionFilter {
  return {
    taxonomyId: query.error_taxonomy_id?.toLowerCase(),
    taxonomyName: query.name,
    label: query.label,
    isLatestOnly: isTrueWord(query.latest_revision_only ?? "false"),
    ...readPage(query, defaultRevisionLimit),
  };
}

function toNewRevision(request: ErrorTaxonomyRevisionCreateRequest): NewRevision {
  return {
    taxonomy: taxonomyOf(request),
    description: request.error_taxonomy_description ?? undefined,
    body: request.body,
    metadata: request.metadata ?? undefined,
    labels: request.labels ?? [],
  };
}

/** Requires a taxonomy, under either of two names, which the schema cannot express. */
function taxonomyOf(request: ErrorTaxonomyRevisionCreateRequest): NewRevision["taxonomy"] {
  const { error_taxonomy_id: id, error_taxonomy_name: name, create_only_if_not_exists } = request;
  if (typeof id === "string") {
    if (create_only_if_not_exists === true) {
      const reason = "A taxonomy with an id exists; give a name alone";
      throw new InvalidRequestError([valueError(["body", "create_only_if_not_exists"], reason, true)]);
    }
    return { id: id.toLowerCase() };
  }
  if (typeof name === "string") return { name, isNewOnly: create_only_if_not_exists ?? false };
  throw new InvalidRequestError([missing(["body", "error_taxonomy_name"], request)]);
}

function toResponse({ body, metadata, created_at, ...rest }: TaxonomyRevision): ErrorTaxonomyRevision {
  return {
    ...rest,
    // Both were checked before they were stored.
    body: parseStored(body) as ErrorTaxonomyRevision["body"],
    metadata: metadata === null ? null : (parseStored(metadata) as ErrorTaxonomyRevision["metadata"]),
    created_at: toIsoInstant(created_at),
  };
}

/** The same as JSON. The long fields are stored as JSON and are neither parsed nor written again. */
function toJson(revision: TaxonomyRevision): string {
  const {
    body: _body,
    metadata: _metadata,
    ...rest
  } = toResponse({ ...revision, body: "[]", metadata: null });
  const metadata = revision.metadata ?? "null";
  return `${JSON.stringify(rest).slice(0, -1)},"body":${revision.body},"metadata":${metadata}}`;
}
