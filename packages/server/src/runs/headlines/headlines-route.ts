import { type Headline, HeadlineListResponse, type RunPrevious } from "@presage/contract";
import { response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import type { PriceList } from "../../platform/prices.ts";
import { selectNames } from "../../platform/storage/rows.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import examples from "../examples.json" with { type: "json" };
import { selectGoalsOf } from "../goals.ts";
import { isSameNamed, type Run } from "../run.ts";
import { toListedRuns } from "../runs.ts";
import { baselineOf } from "./baselines.ts";
import { selectHeadedRuns } from "./headlines-store.ts";
import { lineOf } from "./previous.ts";

interface Services {
  store: Store;
  prices: PriceList;
}

const listHeadlines = route("GET", "/v1/headlines", {
  needs: "read",
  id: "listHeadlines",
  summary: "List the latest figures of each target and dataset",
  description:
    "Returns the newest finished run of each deployment, world, or name of imported predictions over each dataset, next to a baseline, its goal and the previous run. Baselines have no rows of their own, and pilots are left out. Returns at most 50 rows, from the account's 500 newest finished runs.",
  responses: {
    "200": response("The newest first", HeadlineListResponse, {
      data: [{ run: { ...examples.finishedRun, ...examples.headlined }, ...examples.headline }],
    }),
  },
  handle: async (services: Services, { requester }) =>
    reply(200, { data: await findHeadlines(services, requester) }),
});

export const headlineRoutes = [listHeadlines];

const mostRows = 50;

/** One headline for each target, mode and dataset. */
async function findHeadlines({ store, prices }: Services, requester: Requester): Promise<Headline[]> {
  const reader = store.briefReader(requester);
  const all = await selectHeadedRuns(reader, requester.accountId);
  const runs = all.filter((run) => run.provenance.draw === undefined && baselineOf(run) === undefined);
  const lines = Map.groupBy(runs, lineOf);
  const goals = await selectGoalsOf(reader, requester.accountId, runs);
  // The newest run may have another name than the run that the goal was set for.
  const goalOf = (run: Run) =>
    goals.get(run.name) ??
    (lines.get(lineOf(run)) ?? [])
      .flatMap(({ name }) => goals.get(name) ?? [])
      .sort((a, b) => b.created_at - a.created_at)[0];
  const shown = [...lines.values()].flatMap(([newest]) => newest ?? []).slice(0, mostRows);
  const listed = await toListedRuns({ store }, requester, shown, prices.current(), goalOf);
  const datasetIds = listed.map(({ dataset_id }) => dataset_id);
  const names = await selectNames(reader, requester.accountId, datasetIds);
  const known = new Set(all.map(({ id }) => id));
  return listed.map((run, index) => ({
    run,
    dataset_name: names.get(run.dataset_id ?? "") ?? null,
    baseline: run.headline?.baseline ?? null,
    change: run.headline && findChange(shown[index]?.headline?.previous ?? null, run.headline, known),
  }));
}

/** A previous run that was deleted since is not named. */
function findChange(
  previous: RunPrevious | null,
  main: NonNullable<Headline["run"]["headline"]>,
  known: ReadonlySet<string>,
): Headline["change"] {
  if (previous === null || !known.has(previous.run_id)) return null;
  const { run_id, name, by } = previous;
  const own = previous.evaluators.find((one) => isSameNamed(one, main));
  if (own === undefined) return null;
  const { measure, difference, interval, outcome, count, trajectories } = own;
  return { run_id, name, by, measure, difference, interval, outcome, count, trajectories };
}
