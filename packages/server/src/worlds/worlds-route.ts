import {
  defaultRevisionLimit,
  readWorldReference,
  World,
  WorldCreateRequest,
  WorldListQuery,
  WorldListResponse,
  WorldNamePath,
  WorldPath,
  WorldPreview,
  WorldPreviewRequest,
  WorldReviseRequest,
  WorldRevisionListQuery,
  WorldRevisionListResponse,
} from "@presage/contract";
import { errorResponse, noSuch, page, pageTooLarge, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { readKeysetPage, readNumberedPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { refuseLargePage, toNumberedPart } from "../platform/storage/lists.ts";
import type { Requester } from "../platform/storage/store.ts";
import { briefReaderOf, chooseExamples, type ExampleServices } from "./choose-examples.ts";
import { answerFromRecords } from "./complete-through-world.ts";
import examples from "./examples.json" with { type: "json" };
import { findByReference, findWorld, noSuchWorld } from "./find-world.ts";
import { askRecorded, findSample } from "./recorded-steps.ts";
import {
  type Asked,
  composeTurns,
  type ReadyWorld,
  toAsked,
  toWorld,
  withOptionalExamples,
} from "./world.ts";
import { createWorld, deleteWorld, reviseWorld, type WorldUses, type WorldVerbServices } from "./worlds.ts";
import {
  selectMakers,
  selectRevisionSizes,
  selectWorldRevisions,
  selectWorldSizes,
  selectWorlds,
} from "./worlds-store.ts";

interface Services extends WorldVerbServices, ExampleServices {
  worldUses: WorldUses;
}

const createWorldRoute = route("POST", "/v1/worlds", {
  needs: "evaluate",
  id: "createWorld",
  summary: "Create a world",
  description:
    "Creates a world: instructions, recorded examples with a way to find the right ones, and a model. What it names is pinned: the latest revision of its dataset stays the world's until the world is revised. Predictions name a world in `world` or the header `x-presage-world`.",
  body: WorldCreateRequest,
  bodyExample: { name: "shop", ...examples.world.config },
  once: "create world",
  responses: {
    "201": response("The world", World, examples.world),
    "400": errorResponse(
      "Paths of Presage begin with this name",
      "The name datasets is reserved. Choose another one.",
    ),
    "409": errorResponse(
      "The account has a world of this name, or there is a deployment with it",
      'There is already a world named "shop".',
    ),
  },
  async handle(services: Services, { call, requester, body: { name, pinned: copied, ...config }, once }) {
    const wanted = { name, config, copied, userId: call.caller.userId };
    const world = await createWorld(services, requester, wanted, once);
    return reply(201, toWorld(world));
  },
});

const listWorldsRoute = route("GET", "/v1/worlds", {
  needs: "read",
  id: "listWorlds",
  summary: "List worlds",
  description: "Lists the account's worlds in their latest revisions, newest first, without archived ones.",
  query: WorldListQuery,
  responses: { "200": response("The worlds", WorldListResponse, page(examples.world)), ...pageTooLarge },
  async handle({ store }: Services, { call, requester, query }) {
    const reader = store.briefReader(requester);
    const wanted = readKeysetPage(query);
    const sizes = await selectWorldSizes(reader, requester.accountId, wanted);
    reserveStored(call.exchange, refuseLargePage(sizes, "worlds"));
    const { worlds, next } = await selectWorlds(reader, requester.accountId, wanted);
    return reply(200, { data: worlds.map(toWorld), next: toCursor(next) });
  },
});

const getWorld = route("GET", "/v1/worlds/:name", {
  needs: "read",
  id: "getWorld",
  summary: "Show a world",
  description: "Returns a world in its latest revision, or in the one that NAME@NUMBER names.",
  params: WorldPath,
  responses: { "200": response("The world", World, examples.world), ...noSuch("world") },
  handle: async (services: Services, { requester, params: { name } }) =>
    reply(200, toWorld(await findByReference(services, requester, name))),
});

const reviseWorldRoute = route("PATCH", "/v1/worlds/:name", {
  needs: "evaluate",
  id: "reviseWorld",
  summary: "Revise a world",
  description:
    "Adds a revision in which the given fields are replaced and null ones removed. With `examples`, it pins what they name again, such as the latest revision of the dataset. With `archived` alone, it adds none.",
  params: WorldNamePath,
  body: WorldReviseRequest,
  bodyExample: { retrieval: { k: 4 } },
  responses: {
    "200": response("The latest revision", World, { ...examples.world, revision: 2 }),
    "409": errorResponse("It was revised meanwhile", "The world was revised meanwhile. Try again."),
    ...noSuch("world"),
  },
  handle: async (services: Services, { requester, params: { name }, body }) =>
    reply(200, toWorld(await reviseWorld(services, requester, name, body))),
});

const deleteWorldRoute = route("DELETE", "/v1/worlds/:name", {
  needs: "evaluate",
  id: "deleteWorld",
  summary: "Delete a world",
  description:
    "Deletes a world with all its revisions. Its predictions stay. The numbers of its revisions stay taken: a later world of this name begins with the next one.",
  params: WorldNamePath,
  responses: {
    "204": { description: "It is deleted." },
    "409": errorResponse(
      "Environments, or runs that have not ended, use it",
      "The world shop is used by the environment kitchen.",
    ),
    ...noSuch("world"),
  },
  async handle(services: Services, { requester, params: { name } }) {
    await deleteWorld(services, requester, name);
    return reply(204, undefined);
  },
});

const listRevisions = route("GET", "/v1/worlds/:name/revisions", {
  needs: "read",
  id: "listWorldRevisions",
  summary: "List a world's revisions",
  description: "Returns the world in each of its revisions, highest number first.",
  params: WorldNamePath,
  query: WorldRevisionListQuery,
  responses: {
    "200": response("The revisions", WorldRevisionListResponse, page(examples.world)),
    ...pageTooLarge,
    ...noSuch("world"),
  },
  async handle(services: Services, { call, requester, params: { name }, query }) {
    const { id } = await findWorld(services, requester, { name });
    const wanted = { name, ...readNumberedPage(query, defaultRevisionLimit) };
    const reader = services.store.briefReader(requester);
    const sizes = await selectRevisionSizes(reader, requester.accountId, wanted);
    reserveStored(call.exchange, refuseLargePage(sizes, "revisions"));
    const found = await selectWorldRevisions(reader, requester.accountId, wanted);
    const { rows, next } = toNumberedPart(found, wanted, ({ revision }) => revision);
    const makers = await selectMakers(reader, requester.accountId, id);
    const data = rows.map((world) => ({ ...toWorld(world), made_by: makers.get(world.revision) ?? null }));
    return reply(200, { data, next });
  },
});

const previewWorld = route("POST", "/v1/worlds/:name/preview", {
  needs: "read",
  id: "previewWorld",
  summary: "Preview a prediction",
  description:
    "Returns the messages that a prediction through the world would send, and the examples in them with their similarities. The step is in the request (`interaction`), or is a recorded one (`sample`), for which the messages are those of a run. No model is asked.",
  params: WorldPath,
  body: WorldPreviewRequest,
  bodyExample: { interaction: { state: "The cart is empty.", action: "add(item='lamp')" } },
  responses: {
    "200": response("What would be sent", WorldPreview, examples.preview),
    ...noSuch("world"),
  },
  handle: async (services: Services, { requester, params: { name }, body }) =>
    reply(200, await previewThrough(services, requester, name, body)),
});

export const worldRoutes = [
  createWorldRoute,
  listWorldsRoute,
  getWorld,
  reviseWorldRoute,
  deleteWorldRoute,
  listRevisions,
  previewWorld,
];

type PreviewServices = ExampleServices & Pick<WorldVerbServices, "store" | "knownWorlds">;

/** What a prediction through a world would send. */
async function previewThrough(
  services: PreviewServices,
  requester: Requester,
  name: string,
  request: WorldPreviewRequest,
): Promise<WorldPreview> {
  const world = await findReady(services, requester, name);
  const reader = briefReaderOf(services.store, requester);
  const wanted = await askedBy(services, requester, world, request);
  const chosen = await withOptionalExamples(world, (usable) =>
    chooseExamples(services, reader, usable, wanted, requester.signal),
  );
  return {
    world: { name: world.name, revision: world.revision },
    messages: composeTurns(world, wanted, chosen.examples).messages,
    answer: answerFromRecords(world, chosen) ?? null,
    explain: chosen.explain,
  };
}

/** The step of a preview: one in the request, or a recorded one, of which the request may replace parts. */
async function askedBy(
  services: PreviewServices,
  requester: Requester,
  world: ReadyWorld,
  { sample, ...request }: WorldPreviewRequest,
): Promise<Asked> {
  const given = toAsked(request);
  if (!sample) return given;
  const found = await findSample(services, requester, world, sample);
  const recorded = await askRecorded(services.store.reader(requester), world, found);
  return {
    ...recorded,
    context: given.context ?? recorded.context,
    history: request.history ?? recorded.history,
    exclude: given.exclude,
  };
}

/** A world by its name, or NAME@NUMBER, ready to be asked. */
async function findReady(
  services: Pick<WorldVerbServices, "knownWorlds">,
  requester: Requester,
  reference: string,
): Promise<ReadyWorld> {
  const wanted = readWorldReference(reference);
  const world = wanted && (await services.knownWorlds.find(requester, wanted));
  if (world === undefined) throw noSuchWorld();
  return world;
}
