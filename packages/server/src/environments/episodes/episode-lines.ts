import {
  type DatasetLine,
  type EpisodeSelection,
  maxConversationMessages,
  readInstant,
} from "@presage/contract";
import { conflict } from "../../platform/errors.ts";
import type { Keyset } from "../../platform/storage/lists.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { defined } from "../../platform/words.ts";
import {
  type Episode,
  findEpisode,
  indexOf,
  statusOf,
  toExportFilter,
  type WantedEpisodes,
} from "./episode.ts";
import {
  type EpisodeFilter,
  type StepRow,
  selectAbstentions,
  selectEpisode,
  selectMatchingIds,
  selectSteps,
} from "./episodes-store.ts";
import { composeMessages, promptFormOf } from "./turns.ts";

const idsAtOnce = 200;
const partCharacters = 100_000;

/**
 * The lines of a dataset in which each episode is a trajectory, oldest first, in UTF-8: what the model was told, and what it answered.
 * An episode without steps has no lines.
 */
export async function* readEpisodeLines(
  services: { store: Store },
  requester: Requester,
  selection: EpisodeSelection,
): AsyncGenerator<Uint8Array, void> {
  for await (const lines of readEpisodes(services, requester, toWantedEpisodes(selection)))
    yield* toJsonLines(lines);
}

/** JSON lines in UTF-8, in parts. */
export function* toJsonLines(lines: Iterable<object>): Generator<Uint8Array, void> {
  let part = "";
  for (const line of lines) {
    part += `${JSON.stringify(line)}\n`;
    // Lines of a conversation repeat each other: together they may be much longer than the episode.
    if (part.length < partCharacters) continue;
    yield Buffer.from(part, "utf8");
    part = "";
  }
  if (part !== "") yield Buffer.from(part, "utf8");
}

/** Marks the line of a step at which the world abstained: its answer is a guess. */
export const abstainedTag = "abstained";

/** With this many steps, a conversation fits in a sample, with or without a system turn. */
const longestConversation = maxConversationMessages / 2;

/** The lines of each episode, oldest first, with the model's view of it or the agent's. */
export async function* readEpisodes(
  services: { store: Store },
  requester: Requester,
  wanted: WantedEpisodes,
  view: "model" | "agent" = "model",
): AsyncGenerator<Iterable<DatasetLine>, void> {
  const filter = await toExportFilter(services, requester, wanted);
  const reader = services.store.briefReader(requester);
  if (view === "model")
    // Before the first line, so that a response can still be an error.
    for await (const { row, config } of findEach(services, requester, {
      ...filter,
      stepsAbove: longestConversation,
    }))
      if (promptFormOf(config) === "chat") throw tooLong(row.id);
  for await (const episode of findEach(services, requester, filter)) {
    const { id } = episode.row;
    const guesses = await selectAbstentions(reader, id);
    yield linesOf(episode, await selectSteps(reader, id, 0), { guesses, view });
  }
}

/** The episodes that match, oldest first. */
async function* findEach(
  services: { store: Store },
  requester: Requester,
  filter: EpisodeFilter,
): AsyncGenerator<Episode, void> {
  const reader = services.store.briefReader(requester);
  let after: Keyset | undefined;
  do {
    const { accountId } = requester;
    const { rows, next } = await selectMatchingIds(reader, accountId, filter, { limit: idsAtOnce, after });
    for (const { id } of rows) {
      const episode = await findUnlessDeleted(services, requester, id);
      if (episode !== undefined) yield episode;
    }
    after = next;
  } while (after !== undefined);
}

const tooLong = (id: string) =>
  conflict(
    `The episode ${id} is a conversation of more than ${maxConversationMessages} messages, which no sample can have. Leave it out.`,
  );

/** An episode; undefined if it was deleted since its id was read, which is no reason to fail for the other episodes. */
export async function findUnlessDeleted(
  services: { store: Store },
  requester: Requester,
  id: string,
): Promise<Episode | undefined> {
  return await findEpisode(services, requester, id).catch(async (error: unknown) => {
    const { database } = services.store;
    if ((await selectEpisode(database, requester.accountId, id)) === undefined) return undefined;
    throw error;
  });
}

/** The fields of a step that a line of a trajectory needs. */
type Step = Pick<StepRow, "step" | "action" | "observation" | "reward" | "terminated">;

/** The lines of an episode: what the model or the agent was told, and what the model answered. At `guesses` its world abstained. */
export function* linesOf(
  episode: Episode,
  steps: readonly Step[],
  { view = "model", guesses }: { view?: "model" | "agent"; guesses?: ReadonlySet<number> } = {},
): Generator<DatasetLine, void> {
  const { row, config, task } = episode;
  const ofModel = { ...config.context, ...task.context };
  const ofAgent = { task_context: task.prompt, tool_schemas: ofModel.tool_schemas };
  const tags = tagsOf(episode);
  const isChat = view === "model" && promptFormOf(config) === "chat";
  for (const [index, { step, action, observation, reward, terminated }] of steps.entries()) {
    const state = steps[index - 1]?.observation ?? task.initial_state;
    yield {
      trajectory_id: row.id,
      // Trajectories are counted from 0.
      step: step - 1,
      // An interaction has no empty state, but a model may have said nothing.
      ...(isChat || (view === "model" && state === "")
        ? { messages: conversationOf(episode, steps, index) }
        : { context: view === "agent" ? ofAgent : ofModel, interaction: { state, action } }),
      next_state: observation,
      ...(reward === null ? {} : { reward }),
      // An episode that was cut off could have gone on.
      done: terminated === 1,
      tags: guesses?.has(step) ? { ...tags, [abstainedTag]: "true" } : tags,
    };
  }
}

/** The conversation that a step sent. */
function conversationOf({ row, config, task }: Episode, steps: readonly Step[], index: number) {
  const messages = composeMessages(config, task, steps.slice(0, index), steps[index]?.action ?? "");
  // The episode may have gone on during the export.
  if (messages.length > maxConversationMessages) throw tooLong(row.id);
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
    ...(row.policy !== null && { policy: row.policy }),
    ...(row.status === "finished" && { outcome: row.outcome ?? "none" }),
  };
}

export function toWantedEpisodes(selection: EpisodeSelection): WantedEpisodes {
  const { environment, revision, split, index, policy, status, outcome, from, to, ids } = selection;
  return defined({
    environment: environment ?? undefined,
    revision: revision ?? undefined,
    split: split ?? undefined,
    position: index ?? undefined,
    policy: policy ?? undefined,
    status: status ?? undefined,
    outcome: outcome ?? undefined,
    from: from ? readInstant(from) : undefined,
    to: to ? readInstant(to) : undefined,
    ids: ids?.map((id) => id.toLowerCase()),
  });
}
