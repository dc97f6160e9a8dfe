import {
  type DatasetFormat,
  DatasetLine,
  DatasetPath,
  DatasetRevision,
  DatasetUploadQuery,
  EpisodeSelection,
  HTTPValidationError,
  isTrueWord,
  maxConversationMessages,
  readInstant,
} from "@presage/contract";
import { exampleRevision, receiveRevision, toDatasetRevision } from "../datasets/datasets-route.ts";
import { exampleSample, noSuchRevision } from "../datasets/samples-route.ts";
import type { DatasetUploads, UploadedRevision } from "../datasets/upload/upload-revision.ts";
import { type CallWithCaller, keepOpen, requesterOf } from "../http/call.ts";
import { errorResponse, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { readBody } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { ServiceError, UploadError } from "../platform/errors.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { defined } from "../platform/words.ts";
import {
  type Episode,
  findEpisode,
  indexOf,
  statusOf,
  toFilter,
  type WantedEpisodes,
} from "./episodes/episode.ts";
import { type StepRow, selectEpisode, selectMatchingIds, selectSteps } from "./episodes/episodes-store.ts";
import { composeMessages, promptFormOf } from "./episodes/turns.ts";

interface UploadServices {
  store: Store;
  datasets: DatasetUploads;
  settings: { maxShortBodyBytes: number };
}

const { dataset_sample_id: _, ...exampleLine } = exampleSample;
const uploadDatasetRevision = route({
  method: "POST",
  path: "/v1/datasets/:id/revisions",
  needs: "evaluate",
  id: "uploadDatasetRevision",
  tag: "datasets",
  summary: "Upload a revision",
  description:
    "Stores the body's JSON lines, of up to 16 MiB each, as an immutable revision, in the order in which they come. The revision is visible once the whole body is stored; if a line is wrong, it is named by its number and nothing is kept. The same lines again return the revision that has them. With `append=true` the lines of the latest revision come first. With `from=episodes` the body is one JSON object that says which episodes become the trajectories of the revision, oldest first: each step a sample, with the episode's id as the trajectory. With `Content-Encoding: gzip` the body is decompressed.",
  params: DatasetPath,
  query: DatasetUploadQuery,
  refusesUnknown: true,
  more: {
    requestBody: {
      required: true,
      description: "One JSON object a line. Other formats: see the parameter `format`.",
      content: {
        "application/x-ndjson": { schema: DatasetLine, example: exampleLine },
        "application/json": {
          schema: EpisodeSelection,
          example: { environment: "sandbox", status: "finished" },
        },
      },
    },
  },
  responses: {
    "200": response("The revision that already had these lines", DatasetRevision, exampleRevision),
    "201": response("The new revision", DatasetRevision, exampleRevision),
    "409": errorResponse(
      "The dataset was deleted during the upload, the upload was interrupted for too long, or another revision was added while lines were appended",
      "The upload was interrupted for too long.",
    ),
    ...noSuchRevision,
    "413": errorResponse(
      "The upload is larger than PRESAGE_MAX_DATASET_BYTES or 200 times as long as its gzip, or the account's datasets would be larger than its quota",
      "The upload is larger than 1073741824 bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.",
    ),
    "422": response("A line, named by its number, or the request is not valid", HTTPValidationError, {
      detail: [
        {
          type: "value_error",
          loc: ["body", "line", 17, "next_state"],
          msg: "Value error, Field required",
          ctx: { error: "Field required" },
        },
      ],
    }),
    "507": errorResponse(
      "The disk of the database has less room than PRESAGE_MIN_FREE_DISK_BYTES",
      "The database's disk has 734003200 bytes free, and uploads and runs leave 1073741824 (PRESAGE_MIN_FREE_DISK_BYTES).",
    ),
  },
  async handle(services: UploadServices, { call, params: { id }, query }) {
    const wanted = { id, format: query.format, isAppended: isTrueWord(query.append ?? "false") };
    const { revision, isNew } =
      query.from === "episodes"
        ? await reviseFromEpisodes(services, call, wanted)
        : await receiveRevision(services, call, wanted);
    const body = toDatasetRevision(revision);
    return isNew ? reply(201, body) : reply(200, body);
  },
});

export const datasetUploadRoutes = [uploadDatasetRevision];

const idsAtOnce = 200;
const partCharacters = 100_000;

/**
 * The lines of a dataset in which each episode is a trajectory, oldest first, in UTF-8: what the model was told, and what it answered.
 * An episode without steps has none.
 */
export async function* readEpisodeLines(
  services: { store: Store },
  requester: Requester,
  wanted: WantedEpisodes,
): AsyncGenerator<Uint8Array, void> {
  const filter = await toFilter(services, requester, wanted);
  const reader = services.store.briefReader(requester);
  let after: Keyset | undefined;
  do {
    const { accountId } = requester;
    const { rows, next } = await selectMatchingIds(reader, accountId, filter, { limit: idsAtOnce, after });
    for (const { id } of rows) {
      const episode = await findEpisode(services, requester, id).catch(async (error: unknown) => {
        // Deleted since its id was read; that of others is no reason to fail.
        if ((await selectEpisode(reader, accountId, id)) === undefined) return undefined;
        throw error;
      });
      if (episode === undefined) continue;
      let part = "";
      for (const line of linesOf(episode, await selectSteps(reader, id, 0))) {
        part += `${JSON.stringify(line)}\n`;
        // Lines of a conversation repeat each other: all of them may be much longer than the episode.
        if (part.length < partCharacters) continue;
        yield Buffer.from(part, "utf8");
        part = "";
      }
      if (part !== "") yield Buffer.from(part, "utf8");
    }
    after = next;
  } while (after !== undefined);
}

function* linesOf(episode: Episode, steps: readonly StepRow[]): Generator<DatasetLine, void> {
  const { row, config, task } = episode;
  const context = { ...config.context, ...task.context };
  const tags = tagsOf(episode);
  const isChat = promptFormOf(config) === "chat";
  for (const [index, { step, action, observation, reward, terminated, truncated }] of steps.entries()) {
    const state = steps[index - 1]?.observation ?? task.initial_state;
    yield {
      trajectory_id: row.id,
      // Trajectories are counted from 0.
      step: Number(step) - 1,
      // An interaction has no empty state, but a model may have said nothing.
      ...(isChat || state === ""
        ? { messages: conversationOf(episode, steps, index) }
        : { context, interaction: { state, action } }),
      next_state: observation,
      ...(reward === null ? {} : { reward }),
      done: terminated === 1 || truncated === 1,
      tags,
    };
  }
}

/** What a step was asked. */
function conversationOf({ row, config, task }: Episode, steps: readonly StepRow[], index: number) {
  const messages = composeMessages(config, task, steps.slice(0, index), steps[index]?.action ?? "");
  if (messages.length > maxConversationMessages)
    throw new ServiceError(
      "conflict",
      `The episode ${row.id} is a conversation of more than ${maxConversationMessages} messages, which no sample can have. Leave it out.`,
    );
  return messages;
}

function tagsOf({ row }: Episode): Record<string, string> {
  const index = indexOf(row);
  return {
    environment: row.environment,
    environment_revision: String(row.revision),
    split: row.split,
    ...(index !== undefined && { task: String(index) }),
    status: statusOf(row),
    ...(row.status === "finished" && { outcome: row.outcome ?? "none" }),
  };
}

/** What the steps of an episode take that are read at once. */
const bytesOfEpisode = 1_000_000;

export const noEpisodes = "No episode with a step matches";

/** Stores the steps of the episodes that a request's body names as a revision. */
async function reviseFromEpisodes(
  { store, datasets, settings }: UploadServices,
  call: CallWithCaller,
  { id, format, isAppended }: { id: string; format: DatasetFormat | undefined; isAppended: boolean },
): Promise<UploadedRevision> {
  if (format !== undefined)
    throw new InvalidRequestError([valueError(["query", "format"], "Episodes have no format", format)]);
  const selection = await readBody(call, EpisodeSelection, settings.maxShortBodyBytes);
  keepOpen(call);
  reserveStored(call.exchange, bytesOfEpisode);
  const { maxBytes, floor, quotaBytes, uploads, sweeper } = datasets;
  const { accountId, actor } = requesterOf(call);
  const upload = { accountId, actor, datasetId: id, format: "presage" as const, isGzip: false, isAppended };
  const lines = readEpisodeLines({ store }, requesterOf(call), toWantedEpisodes(selection));
  try {
    return await uploads.uploadRevision(
      { ...upload, maxBytes, floor, quotaBytes },
      lines,
      call.request.signal,
    );
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    const { line, reason } = error.fault;
    const message = line === undefined ? noEpisodes : reason;
    throw new InvalidRequestError([valueError(["body"], message)]);
  } finally {
    sweeper.schedule();
  }
}

/** Which episodes a body names. */
export function toWantedEpisodes(selection: EpisodeSelection): WantedEpisodes {
  const { environment, revision, split, index, status, outcome, from, to, ids } = selection;
  return defined({
    environment: environment ?? undefined,
    revision: revision ?? undefined,
    split: split ?? undefined,
    position: index ?? undefined,
    status: status ?? undefined,
    outcome: outcome ?? undefined,
    from: from ? readInstant(from) : undefined,
    to: to ? readInstant(to) : undefined,
    ids: ids?.map((id) => id.toLowerCase()),
  });
}
