import type { DatasetLine, RealityCheckSelection } from "@presage/contract";
import { findUnlessDeleted, linesOf, toJsonLines } from "../environments/episodes/episode-lines.ts";
import { selectSteps } from "../environments/episodes/episodes-store.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { RealityChecksTable, RealityEpisodesTable } from "../platform/storage/schema/reality.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { findCheck } from "./checks.ts";
import { selectEpisodePage, selectRealSteps } from "./checks-store.ts";

/** What really happened to an action, as a line of a dataset, and what the simulation said. */
export interface RealStep {
  line: DatasetLine;
  /** Undefined: the simulation had ended. */
  simulated: string | undefined;
}

const episodesAtOnce = 200;

/** What really happened to the actions of a check, episode by episode: of each all steps, or those up to where the two differ. */
export async function* readRealSteps(
  services: { store: Store },
  requester: Requester,
  check: RealityChecksTable,
  { untilDivergence }: { untilDivergence: boolean },
): AsyncGenerator<RealStep[], void> {
  const reader = services.store.reader(requester);
  for (let after = 0; ; ) {
    const rows = await selectEpisodePage(reader, check.id, { after, limit: episodesAtOnce });
    for (const row of rows) {
      const steps = await stepsOf(services, requester, check, row);
      const until = untilDivergence ? row.diverged_at : null;
      if (steps.length > 0) yield until === null ? steps : steps.slice(0, until);
    }
    if (rows.length < episodesAtOnce) return;
    after = Number(rows.at(-1)?.position);
  }
}

/** None of an episode that was not replayed, or was deleted since. */
async function stepsOf(
  services: { store: Store },
  requester: Requester,
  check: RealityChecksTable,
  row: RealityEpisodesTable,
): Promise<RealStep[]> {
  const { episode_id: id, diverged_at } = row;
  if (id === null || row.steps === null) return [];
  const episode = await findUnlessDeleted(services, requester, id);
  if (episode === undefined) return [];
  const reader = services.store.reader(requester);
  const simulated = await selectSteps(reader, id, 0);
  const { first, steps } = await selectRealSteps(reader, row);
  const { config, task } = episode;
  const real = {
    ...episode,
    config: { ...config, prompt_form: "state-action" as const },
    task: { ...task, initial_state: first ?? task.initial_state },
  };
  const taken = steps.map((step) => ({ ...step, terminated: step.done, truncated: 0 as const }));
  return linesOf(real, taken)
    .map((line, index) => {
      // The simulation's are not what really happened.
      const { status: _, outcome: __, ...tags } = line.tags ?? {};
      const ofCheck = {
        reality_check: check.id,
        ...(check.real !== null && { real_environment: check.real }),
        diverged: String(diverged_at !== null && index >= diverged_at),
      };
      return { line: { ...line, tags: { ...tags, ...ofCheck } }, simulated: simulated[index]?.observation };
    })
    .toArray();
}

/** The lines of a dataset in which each episode that checks replayed is a trajectory of what really happened. */
export async function* readRealityLines(
  services: { store: Store },
  requester: Requester,
  { ids, until_divergence }: RealityCheckSelection,
): AsyncGenerator<Uint8Array, void> {
  const checks: RealityChecksTable[] = [];
  for (const [index, id] of ids.entries()) {
    const check = await findCheck(services, requester, id);
    if (check.source === "pairs")
      throw new InvalidRequestError([
        valueError(["body", "ids", index], "Of pairs, only the outcomes are known, no real steps"),
      ]);
    checks.push(check);
  }
  const known = new Set<string>();
  for (const check of checks) {
    const options = { untilDivergence: until_divergence === true };
    for await (const steps of readRealSteps(services, requester, check, options)) {
      const [episode = ""] = steps.map(({ line }) => line.trajectory_id);
      if (known.has(episode)) continue;
      known.add(episode);
      yield* toJsonLines(steps.map(({ line }) => line));
    }
  }
}
