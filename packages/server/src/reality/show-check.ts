import {
  type EnvironmentReality,
  type EnvironmentRealityQuery,
  type EpisodeReality,
  type RealityCheck,
  type RealityCheckDetail,
  type RealityEpisode,
  type RealityFigure,
  type RealityFigures,
  readInstant,
} from "@presage/contract";
import { formatPoints } from "@presage/contract/describe-runs";
import { findEnvironment, type RealityServices } from "../environments/find-environment.ts";
import { microsPerMs, toIsoInstant } from "../platform/storage/columns.ts";
import type {
  RealityChecksTable,
  RealityEpisodesTable,
  RealityReplaysTable,
} from "../platform/storage/schema/reality.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { countOf, percent } from "../platform/words.ts";
import { dayOf, firstRows, formatP, heading, paragraph, type ReportPart } from "../runs/report/pages.ts";
import { findCheck } from "./checks.ts";
import {
  countEpisodes,
  selectEpisodesOfEnvironment,
  selectLastEpisodes,
  selectLimitedCheck,
  type selectRealSteps,
  sumVerbBytes,
} from "./checks-store.ts";
import { type CheckedEpisode, heldAgainst, realityFigures } from "./figures.ts";
import { countReplays } from "./replays/replays-store.ts";

interface Services {
  store: Store;
}

/** The most episodes of a check or an environment that are read: the last ones. */
const mostEpisodes = 100_000;
/** The memory for an episode, and for each byte of its verbs, while figures are computed. */
const bytesPerEpisode = 600;
const bytesPerVerbByte = 8;

/** The memory for the episodes of a check, or of an environment's checks, while figures are computed. */
async function memoryOf(reader: Database, episodes: number, of: Parameters<typeof sumVerbBytes>[1]) {
  const verbs = await sumVerbBytes(reader, of);
  return Math.min(episodes, mostEpisodes) * bytesPerEpisode + verbs * bytesPerVerbByte;
}

/** A reality check with its figures. */
export async function describeCheck(
  services: Services,
  requester: Requester,
  id: string,
  reserve: (bytes: number) => void,
): Promise<RealityCheckDetail> {
  const check = await findCheck(services, requester, id);
  const reader = services.store.reader(requester);
  reserve(await memoryOf(reader, check.episodes, id));
  const episodes = await selectLastEpisodes(reader, id, mostEpisodes);
  // Its interval is of one look: at each of many, one of them would be wrong too often.
  const hasEnded = check.status === "completed" || check.status === "cancelled";
  const limit = hasEnded ? check.false_success_limit : null;
  const figures = await realityFigures(episodes.map(toChecked), limit);
  const all = countOf(check.episodes, "checked episode");
  if (check.episodes > mostEpisodes)
    figures.sentence += ` Of ${all}, the figures are of the last ${mostEpisodes}.`;
  return { ...(await countedCheck(services, requester, check)), figures };
}

/** The figures of all reality checks of an environment together. */
export async function describeEnvironment(
  services: RealityServices,
  requester: Requester,
  name: string,
  { policy, from }: EnvironmentRealityQuery,
  reserve: (bytes: number) => void,
): Promise<EnvironmentReality> {
  const environment = await findEnvironment(services, requester, name);
  const reader = services.store.reader(requester);
  const ofAll = { accountId: requester.accountId, environment: name, environmentId: environment.id };
  const { episodes } = await countEpisodes(reader, ofAll);
  // Doubled because `describeLimited` reads the episodes of one check again.
  reserve(2 * (await memoryOf(reader, episodes, ofAll)));
  const wanted = { ...ofAll, policy, from: from === undefined ? undefined : readInstant(from) };
  const found = await selectEpisodesOfEnvironment(reader, wanted, mostEpisodes);
  const limit = environment.config.real?.false_success_limit ?? null;
  const state = (await services.realityOf(requester, environment, 0)) ?? null;
  const limited = await selectLimitedCheck(reader, ofAll, limit);
  return {
    ...(await realityFigures(found.map(toChecked), limit)),
    state,
    limited_check: limited === undefined ? null : await describeLimited(reader, limited),
  };
}

async function describeLimited(
  reader: Database,
  check: RealityChecksTable & { false_success_limit: number },
): Promise<EnvironmentReality["limited_check"]> {
  const { id, name, false_success_limit } = check;
  const episodes = await selectLastEpisodes(reader, id, mostEpisodes);
  const held = await heldAgainst(false_success_limit, episodes.map(toChecked));
  return { id, name, false_success_limit, ...held };
}

/** A check with the progress of its replays. */
export async function countedCheck(
  { store }: Services,
  requester: Requester,
  check: RealityChecksTable,
): Promise<RealityCheck> {
  return toCheck(check, await countReplays(store.briefReader(requester), [check.id]));
}

export function toCheck(
  check: RealityChecksTable,
  counts: Awaited<ReturnType<typeof countReplays>>,
): RealityCheck {
  return {
    id: check.id,
    name: check.name,
    environment: check.environment,
    environment_revision: check.environment_revision,
    source: check.source,
    real: check.real,
    status: check.status,
    reason: check.reason,
    false_success_limit: check.false_success_limit,
    episodes: check.episodes,
    ...(counts.get(check.id) ?? { waiting: 0, failed: 0 }),
    created_by: check.created_by,
    created_at: toIsoInstant(check.created_at),
  };
}

export function toRealityEpisode(row: RealityEpisodesTable): RealityEpisode {
  return {
    position: row.position,
    episode_id: row.episode_id,
    task_id: row.task_id,
    policy: row.policy,
    simulated: row.simulated === 1,
    real: row.real === 1,
    simulated_reward: row.simulated_reward,
    real_reward: row.real_reward,
    steps: row.steps,
    diverged_at: row.diverged_at,
    error: null,
  };
}

export function toFailedEpisode({ position, episode_id, error }: RealityReplaysTable): RealityEpisode {
  return {
    position,
    episode_id,
    task_id: null,
    policy: null,
    simulated: null,
    real: null,
    simulated_reward: null,
    real_reward: null,
    steps: null,
    diverged_at: null,
    error,
  };
}

export function toEpisodeReality(
  found: RealityEpisodesTable & { real_environment: string | null },
  { first, steps }: Awaited<ReturnType<typeof selectRealSteps>>,
): EpisodeReality {
  const { error: _, ...episode } = toRealityEpisode(found);
  const { check_id, real_environment } = found;
  return {
    ...episode,
    check_id,
    real_environment,
    first_observation: first ?? null,
    real_steps: steps.map(({ step, action, observation, reward, done, latency_micros: latency }) => ({
      step,
      action,
      observation,
      reward,
      done: done === 1,
      latency_ms: latency === null ? null : latency / microsPerMs,
    })),
  };
}

/** An episode in the form that figures are computed from. */
function toChecked(row: RealityEpisodesTable): CheckedEpisode {
  return {
    task: row.task_id,
    policy: row.policy,
    simulated: row.simulated === 1,
    real: row.real === 1,
    ...(row.replayed !== null && { replayed: row.replayed === 1 }),
    episodeId: row.episode_id,
    position: row.position,
    checkId: row.check_id,
    simulatedReward: row.simulated_reward,
    realReward: row.real_reward,
    steps: row.steps,
    divergedAt: row.diverged_at,
    verbs: row.verbs === null ? null : (JSON.parse(row.verbs) as string[]),
  };
}

const howIntervals =
  "Intervals are at 95 % and take tasks, not episodes, as independent; fewer than 6 tasks have none.";

/** What a check's limit says of its false successes. */
const heldToLimit = {
  above: (limit: string) => `Above the check's limit of ${limit}: do not trust its successes.`,
  below: (limit: string) => `Below the check's limit of ${limit}: its successes may be trusted.`,
  undecided: (limit: string) =>
    `Not decided against the check's limit of ${limit}: more episodes are needed.`,
};

/** A reality check as headings, texts and tables. Without texts, its actions and policies are left out. */
export function realityDocument(
  { name, environment, real, created_at, figures, false_success_limit: limit }: RealityCheckDetail,
  { withTexts }: { withTexts: boolean },
): ReportPart[] {
  const { sentence, counts, policies, outcome } = figures;
  const where = environment === null ? "" : `Simulated by the environment ${environment}. `;
  const against = real === null ? "" : `Replayed in the real environment ${real}. `;
  return [
    heading(1, `Reality check: ${name}`),
    paragraph(`Reality check of ${dayOf(created_at)}. ${where}${against}${howIntervals}`),
    paragraph(sentence, true),
    ...(limit === null || outcome === null
      ? []
      : [paragraph(heldToLimit[outcome](percent(limit).replace(".0 %", " %")), true)]),
    ...(figures.divergence === null ? [] : [paragraph(figures.divergence.sentence)]),
    ...(withTexts ? [paragraph(figures.exploits.sentence)] : []),
    {
      kind: "table",
      columns: ["", "Succeeds in reality", "Fails in reality"],
      rows: [
        ["Succeeds in simulation", String(counts.both), String(counts.only_simulated)],
        ["Fails in simulation", String(counts.only_real), String(counts.neither)],
      ],
    },
    heading(2, "Figures"),
    ...sharesChart("Shares of episodes", [
      ["False success", figures.false_success_rate],
      ["Missed success", figures.missed_success_rate],
      ["Agreement", figures.agreement],
    ]),
    figureTable("Figure", [
      cellsOf("False success", figures.false_success_rate),
      cellsOf("Missed success", figures.missed_success_rate),
      cellsOf("Agreement", figures.agreement),
      cellsOf("Bias, points", figures.bias, formatPoints),
      ...consistencyCells("Consistency", figures.consistency),
      ...consistencyCells("Consistency, mean of policies", figures.macro_consistency),
    ]),
    ...(withTexts ? [...policyParts(policies), ...exploitParts(figures)] : []),
  ];
}

/** Shares with their intervals on one axis. */
function sharesChart(caption: string, shares: readonly [string, RealityFigure][]): ReportPart[] {
  const rows = shares.map(([name, { value, interval }]) => ({ name, value, interval }));
  if (rows.every(({ value }) => value === null)) return [];
  const axis = { from: 0, to: 1, format: (value: number) => `${100 * value} %` };
  return [{ kind: "intervals", caption: `${caption}, with their 95 % intervals.`, axis, rows }];
}

/** Omits the column of notes if no row has one. */
function figureTable(name: string, rows: readonly string[][]): ReportPart {
  const columns = [name, "Value", "Interval", "Episodes", "Tasks", "Note"];
  if (rows.some((cells) => cells.at(-1) !== "")) return { kind: "table", columns, rows };
  return { kind: "table", columns: columns.slice(0, -1), rows: rows.map((cells) => cells.slice(0, -1)) };
}

function consistencyCells(name: string, found: RealityFigures["consistency"]): string[][] {
  return found === null ? [] : [cellsOf(name, found.ratio, (ratio) => ratio.toFixed(2))];
}

/** The most policies that a chart shows. */
const mostDrawn = 40;

function policyParts(policies: RealityFigures["policies"]): ReportPart[] {
  if (policies.length === 0) return [];
  return [
    heading(2, "False success by policy"),
    ...sharesChart(
      "False success by policy, in the order in which they came",
      policies.slice(0, mostDrawn).map((one) => [one.policy, one.false_success_rate]),
    ),
    ...firstRows(
      ["Policy", "Value", "Interval", "Episodes", "Tasks", "Note"],
      policies.map(({ policy, false_success_rate }) => cellsOf(policy, false_success_rate)),
    ),
  ];
}

function exploitParts({
  exploits: { verbs, false_successes, true_successes },
}: RealityFigures): ReportPart[] {
  if (verbs.length === 0) return [];
  return [
    heading(2, "What false successes do more often"),
    {
      kind: "table",
      columns: [
        "Action",
        `Of ${false_successes} false`,
        `Of ${true_successes} true`,
        "Log odds",
        "Interval",
        "p, adjusted",
      ],
      rows: verbs.map(({ log_odds_ratio: { value, interval }, ...verb }) => [
        verb.verb,
        String(verb.false_successes),
        String(verb.true_successes),
        value?.toFixed(2) ?? "–",
        interval === null ? "–" : `${interval.lower.toFixed(2)} to ${interval.upper.toFixed(2)}`,
        formatP(verb.p_adjusted),
      ]),
    },
  ];
}

function cellsOf(
  name: string,
  { value, interval, count, tasks, note }: RealityFigure,
  format = percent,
): string[] {
  const bounds = interval === null ? "–" : `${format(interval.lower)} to ${format(interval.upper)}`;
  return [name, value === null ? "–" : format(value), bounds, String(count), String(tasks), note ?? ""];
}
