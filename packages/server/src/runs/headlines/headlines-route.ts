import { type Headline, HeadlineListResponse, type RunPrevious } from "@presage/contract";
import { response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import type { PriceList } from "../../platform/prices.ts";
import { selectNames } from "../../platform/storage/rows.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import examples from "../examples.json" with { type: "json" };
import { isSameNamed, type Run } from "../run.ts";
import { toListedRuns } from "../runs.ts";
import { type HeadedRun, selectHeadedRuns } from "./headlines-store.ts";
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
    "Returns the newest finished run of each deployment, world, or name of imported predictions over each dataset, beside a baseline, its goal and the run before. Baselines are not rows of their own, and pilots are left out. Of the account's 500 newest finished runs, at most 50 rows.",
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

/** One for each target, mode and dataset. */
async function findHeadlines({ store, prices }: Services, requester: Requester): Promise<Headline[]> {
  const reader = store.briefReader(requester);
  const all = await selectHeadedRuns(reader, requester.accountId);
  const runs = all.filter(({ provenance }) => provenance.draw === undefined);
  const newest = new Map<string, HeadedRun>();
  for (const run of runs) {
    const line = lineOf(run);
    if (baselineOf(run) === undefined && !newest.has(line)) newest.set(line, run);
  }
  const shown = [...newest.values()].slice(0, mostRows);
  const listed = await toListedRuns({ store }, requester, shown, prices.current());
  const datasetIds = listed.map(({ dataset_id }) => dataset_id);
  const names = await selectNames(reader, requester.accountId, datasetIds);
  const known = new Set(runs.map(({ id }) => id));
  return listed.map((run, index) => ({
    run,
    dataset_name: names.get(run.dataset_id ?? "") ?? null,
    baseline: run.headline && findBaseline(shown[index], run.headline, runs),
    change: run.headline && findChange(shown[index]?.headline?.previous ?? null, run.headline, known),
  }));
}

function baselineOf({ target: { kind } }: Run) {
  return kind === "no-change" || kind === "most-frequent" || kind === "retrieval" ? kind : undefined;
}

type Main = NonNullable<Headline["run"]["headline"]>;

/** What a model has to beat: the best of those that predicted the same samples without one. */
function findBaseline(of: Run | undefined, main: Main, runs: readonly HeadedRun[]): Headline["baseline"] {
  const found: NonNullable<Headline["baseline"]>[] = [];
  if (main.no_change !== null) {
    const { pass_rate, count } = main.no_change;
    found.push({ kind: "no-change", run_id: null, pass_rate, interval: null, count });
  }
  for (const other of runs) {
    const kind = baselineOf(other);
    if (kind === undefined || other.mode !== of?.mode) continue;
    if (other.dataset?.revisionId !== of.dataset?.revisionId) continue;
    const figures = other.headline?.evaluators.find((one) => isSameNamed(one, main));
    if (figures === undefined || figures.pass_rate === null) continue;
    const { pass_rate, pass_interval: interval, count } = figures;
    found.push({ kind, run_id: other.id, pass_rate, interval, count });
  }
  return found.sort((a, b) => b.pass_rate - a.pass_rate)[0] ?? null;
}

/** A run before that was deleted since is not named. */
function findChange(
  previous: RunPrevious | null,
  main: Main,
  known: ReadonlySet<string>,
): Headline["change"] {
  if (previous === null || !known.has(previous.run_id)) return null;
  const { run_id, name, by } = previous;
  const own = previous.evaluators.find((one) => isSameNamed(one, main));
  if (own === undefined) return null;
  const { measure, difference, interval, outcome, count, trajectories } = own;
  return { run_id, name, by, measure, difference, interval, outcome, count, trajectories };
}
