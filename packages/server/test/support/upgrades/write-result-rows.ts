import { clusterIdOf, numbersPerStretch } from "../../../src/platform/storage/columns.ts";
import { awkward, awkwardScore, daysOf, idOf, writtenAt } from "./awkward.ts";
import type { Row, RowWriter } from "./row-writer.ts";

const app = "my-app";
const evaluator = {
  evaluator_id: "exact-match-2026-11-21",
  evaluator_family: "exact-match",
  profile_name: "ours",
  profile_public_id: idOf.profile,
  profile_revision: 1,
};
const trajectoryTag = "trajectory_id";
/** Three results: one whose verdict a person reversed, one without a trajectory, and one that failed. */
const resultIds = [1, 2, 3] as const;
const [corrected, second, failed] = resultIds;
/** Results of the samples `s-2` and 7. */
const sampleKeys = ["s-0012000", "0017000"] as const;

export async function writeResultRows(writer: RowWriter): Promise<void> {
  const { insert } = writer;
  if (!writer.has("evaluation_results")) return;
  await takeNumbers(writer);
  const common = { ...evaluator, account_id: idOf.account, created_at: writtenAt, app, is_external: 0 };
  const verdict = { explain_strategy: "always", status: "success" };
  await insert("evaluation_results", {
    ...common,
    ...verdict,
    id: corrected,
    dataset_id: "recorded",
    run_id: awkward,
    pass: 1,
    score: awkwardScore,
    counted_pass: 0,
    counted_score: 0,
    score_mille: 0,
    request_key: awkward,
    cluster_id: clusterIdOf({ trajectoryId: "t-1", datasetId: "recorded" }),
    is_equal: 1,
    project_id: idOf.project,
    experiment_id: idOf.experiment,
    sample_key: sampleKeys[0],
  });
  await insert("evaluation_results", {
    ...common,
    ...verdict,
    id: second,
    pass: 1,
    score: awkwardScore,
    counted_pass: 1,
    counted_score: awkwardScore,
    score_mille: 300,
    cluster_id: clusterIdOf({ datasetSampleId: 7 }),
    sample_key: sampleKeys[1],
  });
  await insert("evaluation_results", { ...common, id: failed, explain_strategy: "never", status: "failed" });
  const texts = { system_prompt: awkward, input: awkward, output: awkward, gold_answer: awkward };
  await insert("evaluation_payloads", {
    ...texts,
    result_id: corrected,
    retrieved_context: JSON.stringify([awkward]),
    explanation: awkward,
    evaluation_micros: 234,
    explanation_micros: 71,
    additional_info: JSON.stringify({ positions: [[1, 2]] }),
    dataset_sample_id: JSON.stringify("s-2"),
    evaluated_model: JSON.stringify({ name: awkward }),
    tags: JSON.stringify({ [trajectoryTag]: "t-1", kind: awkward }),
  });
  await insert("evaluation_payloads", { result_id: second, output: "x", dataset_sample_id: "7" });
  await insert("evaluation_payloads", { result_id: failed, output: "", error_message: awkward });
  for (const [name, value] of [
    [trajectoryTag, "t-1"],
    ["kind", awkward],
  ] as const)
    await insert("evaluation_tags", { account_id: idOf.account, name, value, result_id: corrected });
  await insert("evaluation_corrections", {
    id: idOf.correction,
    result_id: corrected,
    account_id: idOf.account,
    profile_public_id: idOf.profile,
    user_id: idOf.user,
    pass: 0,
    score: 0,
    comment: awkward,
    created_at: writtenAt + 1,
  });
  await insert("evaluation_labels", {
    ...{ id: idOf.label, account_id: idOf.account, result_id: corrected, user_id: null, annotator: awkward },
    ...{ pass: 0, score: awkwardScore, correction_id: null, created_at: writtenAt + 2 },
  });
  await insert("label_samples", {
    ...{
      id: idOf.labelSample,
      account_id: idOf.account,
      run_id: idOf.run,
      evaluator_id: awkward,
      is_external: 1,
    },
    ...{
      profile_name: null,
      design: "uniform",
      seed: 1,
      left_out: 0,
      created_by: idOf.user,
      created_at: writtenAt,
    },
    strata: JSON.stringify([{ pass: null, count: 3, probability: awkwardScore }]),
  });
  await insert("label_sample_items", {
    ...{ sample_id: idOf.labelSample, position: 0, result_id: corrected, probability: awkwardScore },
  });
  await writeCounts(writer);
  await writeTagCounts(writer);
}

/** Assigns the results' numbers as the version did, and notes the times that they lie between. */
async function takeNumbers(writer: RowWriter): Promise<void> {
  writer.cover("evaluation_clock");
  const last = resultIds.length;
  if (writer.isPostgres) await writer.run(`select setval('evaluation_result_ids', ${last})`);
  else await writer.run(`update evaluation_clock set last_id = ${last}, last_created_at = ${writtenAt}`);
  const times = { stretch: Math.floor(1 / numbersPerStretch), earliest: writtenAt, latest: writtenAt };
  await writer.insert("evaluation_times", times);
  await insertDelta(writer, "evaluation_time_deltas", times);
}

/** Counts that writers on PostgreSQL only append. */
async function insertDelta(writer: RowWriter, table: string, row: Row): Promise<boolean> {
  if (writer.isPostgres) return (await writer.insert(table, row)) !== undefined;
  writer.cover(table);
  return false;
}

/** Counts after the correction has moved its result to the failed ones. */
const verdicts = [
  { verdict: "fail", score_mille: 0, score_sum: 0, score_sum_of_squares: 0 },
  { verdict: "pass", score_mille: 300, score_sum: awkwardScore, score_sum_of_squares: awkwardScore ** 2 },
  { verdict: "failed", score_mille: -1, score_sum: 0, score_sum_of_squares: 0 },
];

/** The counts that summaries read, some of them not added up yet. */
async function writeCounts(writer: RowWriter): Promise<void> {
  const day = daysOf(writtenAt);
  for (const [index, series_id] of ["series of all runs", "series of results without a run"].entries()) {
    await writer.insert("evaluation_series", {
      ...evaluator,
      id: series_id,
      account_id: idOf.account,
      app,
      spans_runs: index === 0 ? 1 : 0,
      run_id: "",
    });
    for (const counts of verdicts) {
      const row = { ...counts, series_id, day, count: 1 };
      const isAppended =
        counts.verdict === "pass" && (await insertDelta(writer, "evaluation_count_deltas", row));
      if (!isAppended) await writer.insert("evaluation_counts", row);
    }
  }
  // Triggers write these.
  writer.cover("evaluation_total_counts");
  const finding = {
    account_id: idOf.account,
    revision_id: idOf.taxonomyRevision,
    day,
    path_id: "digest of a path",
    path: JSON.stringify(["reasoning", awkward]),
    count: 2,
  };
  await writer.insert("error_finding_counts", finding);
  await insertDelta(writer, "error_finding_count_deltas", { ...finding, count: 1 });
}

/** Notes that all results up to the last are counted by tag. */
async function writeTagCounts(writer: RowWriter): Promise<void> {
  await writer.run(`update evaluation_tag_progress set up_to = ${resultIds.length}`);
  writer.cover("evaluation_tag_progress");
  const { insert } = writer;
  await insert("evaluation_tag_names", { account_id: idOf.account, name: "kind", counted_up_to: null });
  const tag = await insert("evaluation_tag_values", {
    account_id: idOf.account,
    name: "kind",
    value: awkward,
  });
  const series = await insert("evaluation_tag_series", { ...evaluator, tag_id: tag?.id ?? 0, app });
  await insert("evaluation_tag_counts", {
    series_id: series?.id ?? 0,
    day: daysOf(writtenAt),
    verdict: "pass",
    score_mille: 300,
    count: 1,
    score_sum: awkwardScore,
    score_sum_of_squares: awkwardScore ** 2,
  });
}
