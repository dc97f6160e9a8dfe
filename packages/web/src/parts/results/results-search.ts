import type { ExplainStrategy } from "@presage/sdk";
import { instantOf, present, readText } from "../../search-params.ts";
import { readTableSearch } from "../../ui/data-table/table-view.ts";

export const verdicts = [
  "pass",
  "fail",
  "error",
  "unusable-input",
  "contradictory",
  "not-applicable",
] as const;
/** The last two mean that there is no verdict. */
export type Verdict = (typeof verdicts)[number];

export const verdictLabels: Record<Verdict, string> = {
  pass: "Pass",
  fail: "Fail",
  error: "Error",
  "unusable-input": "Unusable input",
  contradictory: "Contradictory",
  "not-applicable": "Not applicable",
};

const explainStrategies = ["never", "on-fail", "on-success", "always"] as const satisfies ExplainStrategy[];

export const explainLabels: Record<ExplainStrategy, string> = {
  never: "Never",
  "on-fail": "On fail",
  "on-success": "On pass",
  always: "Always",
};

const maxTags = 50;
const maxRevision = 2_147_483_647;

const views = ["samples", "verdicts"] as const;

export type ResultsSearch = ReturnType<typeof readResultsSearch>;

/** Reads the URL of the page of results; invalid values are ignored. */
export function readResultsSearch(search: Record<string, unknown>) {
  const tags = [search.tag].flat().map(readText).filter(isTag).slice(0, maxTags);
  return present({
    /** Absent: passes and fails. */
    verdict: verdicts.find((known) => known === search.verdict),
    app: readText(search.app),
    /** An evaluator's id or alias. */
    evaluator: readText(search.evaluator),
    family: readText(search.family),
    profile: readText(search.profile),
    profile_id: readText(search.profile_id),
    revision: revisionOf(search.revision),
    min_score: scoreOf(search.min_score),
    max_score: scoreOf(search.max_score),
    // Each is `name=value`. A result has one value per tag, so the last requested value counts.
    tag: tags.length === 0 ? undefined : [...new Map(tags.map((tag) => [tag.split("=")[0], tag])).values()],
    dataset: readText(search.dataset),
    sample: readText(search.sample),
    run: readText(search.run),
    /** Only evaluations that do not belong to a run. */
    direct: search.direct === true ? (true as const) : undefined,
    explain: explainStrategies.find((known) => known === search.explain),
    since: instantOf(search.since),
    until: instantOf(search.until),
    /** Only greater ids, and only smaller ones. */
    after: idOf(search.after),
    before: idOf(search.before),
    /** Absent: one row per verdict. */
    view: views.find((known) => known === search.view),
    /** Absent: newest first. */
    order: search.order === "oldest" ? ("oldest" as const) : undefined,
    /** By sample: the evaluator and profile whose scores to sort by, `evaluator~profile`, with a minus for highest first. */
    sort: readText(search.sort),
    /** The result that is open. */
    result: idOf(search.result),
    columns: readTableSearch(search).columns,
  });
}

/** Undefined removes a parameter. */
export type ResultsSearchChanges = { [Name in keyof ResultsSearch]?: ResultsSearch[Name] | undefined };

/** The filters of a list of results. */
export interface Filtering {
  search: ResultsSearch;
  /** Writes changes to the URL. */
  change(changes: ResultsSearchChanges, options?: { replace?: boolean }): void;
}

export function changeSearch(search: ResultsSearch, changes: ResultsSearchChanges): ResultsSearch {
  return present({ ...search, ...changes });
}

function isTag(text: string | undefined): text is string {
  return text !== undefined && text.indexOf("=") > 0;
}

function scoreOf(value: unknown): number | undefined {
  const score = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof score === "number" && score >= 0 && score <= 1 ? score : undefined;
}

function revisionOf(value: unknown): number | undefined {
  const revision = Number(idOf(value));
  return revision >= 1 && revision <= maxRevision ? revision : undefined;
}

function idOf(value: unknown): string | undefined {
  const text = readText(value);
  return text !== undefined && /^\d{1,15}$/.test(text) ? text : undefined;
}
