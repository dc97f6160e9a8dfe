import { awkward, awkwardScore, idOf, largestNumber, writtenAt } from "./awkward.ts";
import type { RowWriter } from "./row-writer.ts";

const evaluators = [
  {
    id: "exact-match-2026-11-21",
    family: "exact-match",
    profile: { name: "ours", publicId: idOf.profile, revision: 1 },
    explainStrategy: "always",
  },
];
const provenance = {
  presage_version: "0.1.0",
  prompt_version: "1",
  dataset_digest: null,
  models: [],
  in_sample: false,
};
const own = { account_id: idOf.account, created_by: idOf.user, created_at: writtenAt };

/** A project with an experiment, and a dataset with a run over it. */
export async function writeRunRows({ insert }: RowWriter): Promise<void> {
  await insert("projects", { ...own, id: idOf.project, name: awkward.trim() });
  await insert("runs", {
    ...own,
    id: idOf.experiment,
    project_id: idOf.project,
    name: "seeds",
    status: "running",
    target_kind: "external",
    target: JSON.stringify({ kind: "external" }),
    mode: "teacher-forced",
    evaluators: "[]",
    repeats: 1,
    concurrency: 1,
    tags: JSON.stringify({ kind: awkward }),
    metadata: JSON.stringify({ seed: 7 }),
    samples: 0,
    predicted: 0,
    evaluated: 0,
    failed: 0,
    provenance: JSON.stringify(provenance),
    notes: "[]",
    // No process works on a run that a client makes.
    lease_until: largestNumber,
    started_at: writtenAt,
  });
  await insert("datasets", {
    ...own,
    id: idOf.dataset,
    name: awkward.trim(),
    description: awkward,
    tags: JSON.stringify({ split: awkward }),
    change: JSON.stringify({ paths: ["$.doors"] }),
    last_revision: 1,
  });
  const revision = await insert("dataset_revisions", {
    ...own,
    dataset_id: idOf.dataset,
    state: "sealed",
    number: 1,
    digest: "a".repeat(64),
    trajectories: 1,
    samples: 1,
    bytes: 197,
    touched_at: writtenAt,
  });
  const sample = { revision_id: revision?.id ?? 0, position: 1 };
  const part = "digest of a context";
  await insert("dataset_samples", {
    ...sample,
    trajectory_id: awkward,
    step: 0,
    sample_id: "t/0",
    bytes: 197,
  });
  const body = { interaction: { state: awkward, action: "open fridge" }, next_state: awkward };
  await insert("dataset_payloads", { ...sample, part, body: JSON.stringify(body) });
  await insert("dataset_parts", {
    revision_id: sample.revision_id,
    digest: part,
    previous: null,
    text: JSON.stringify({ task_context: awkward }),
  });
  await insert("sample_traits", {
    ...sample,
    digest: "digest of a sample",
    changes: 1,
    verb: "open",
    tags: null,
  });
  await insert("runs", {
    ...own,
    id: idOf.run,
    name: awkward,
    status: "finished",
    target_kind: "baseline",
    target: JSON.stringify({ kind: "no-change" }),
    mode: "teacher-forced",
    evaluators: JSON.stringify(evaluators),
    repeats: 1,
    concurrency: 16,
    dataset_id: idOf.dataset,
    revision_id: sample.revision_id,
    revision: 1,
    samples: 1,
    predicted: 1,
    evaluated: 1,
    failed: 0,
    provenance: JSON.stringify(provenance),
    notes: JSON.stringify([awkward]),
    lease_until: 0,
    api_key_id: idOf.key,
    started_at: writtenAt + 1,
    finished_at: writtenAt + 2,
  });
  await insert("shares", {
    id: idOf.share,
    account_id: idOf.account,
    digest: "the digest of a link to a run",
    user_id: idOf.user,
    api_key_id: null,
    kind: "run",
    object: idOf.run,
    with_texts: 1,
    created_at: writtenAt,
    expires_at: writtenAt + 86_400_000_000,
  });
  await insert("run_verdicts", {
    run_id: idOf.run,
    evaluator: 0,
    position: 1,
    repeat: 0,
    status: "success",
    pass: 1,
    score: awkwardScore,
    result_id: largestNumber,
  });
}

/** A prediction of the run and one of a client, with their texts. */
export async function writePredictionRows({ insert }: RowWriter): Promise<void> {
  const counts = { cached_tokens: 0, prompt_tokens: 17, completion_tokens: 5 };
  const prediction = { ...own, ...counts, status: "success", finish_reason: "stop", sent_model: awkward };
  await insert("predictions", {
    ...prediction,
    id: idOf.prediction,
    source: "run",
    run_id: idOf.run,
    position: 1,
    repeat: 0,
  });
  await insert("predictions", {
    ...prediction,
    id: idOf.livePrediction,
    source: "live",
    deployment: "default",
    model: awkward,
    api_key_id: idOf.key,
    request_id: idOf.request,
    latency_micros: 5_772,
  });
  await insert("prediction_payloads", { prediction_id: idOf.prediction, output: awkward });
  await insert("prediction_payloads", {
    prediction_id: idOf.livePrediction,
    context_digest: "digest of a context",
    request: JSON.stringify({ interaction: { state: awkward, action: "look" }, params: {} }),
    output: awkward,
    reasoning: awkward,
  });
  await insert("prediction_contexts", {
    account_id: idOf.account,
    digest: "digest of a context",
    context: JSON.stringify({ task_context: awkward }),
  });
}

export async function writeEnvironmentRows({ insert }: RowWriter): Promise<void> {
  const task = JSON.stringify({ initial_state: awkward, prompt: awkward });
  await insert("environments", {
    ...own,
    id: idOf.environment,
    name: "kitchen",
    last_revision: 1,
    tasks: JSON.stringify({ train: 1 }),
  });
  await insert("environment_revisions", {
    environment_id: idOf.environment,
    revision: 1,
    config: JSON.stringify({ description: awkward }),
    created_at: writtenAt,
  });
  const config = JSON.stringify({ description: awkward });
  await insert("worlds", {
    ...own,
    ...{ id: idOf.world, name: "shop", last_revision: 1, archived_at: null, deleted_at: null },
  });
  await insert("goals", {
    ...own,
    ...{ id: idOf.goal, run_name: awkward, evaluator: "exact-match", profile_name: awkward },
    pass_rate: awkwardScore,
  });
  const pinned = JSON.stringify({ examples: null, calibration: null, prompt_digest: "0" });
  await insert("world_revisions", {
    ...{ world_id: idOf.world, revision: 1, config, pinned, created_at: writtenAt },
  });
  const outcomes = { simulated: 1, real: 0, replayed: null };
  await insert("reality_checks", {
    ...own,
    ...{ id: idOf.realityCheck, name: awkward, environment: "kitchen" },
    ...{ environment_id: idOf.environment, environment_revision: 1, source: "continuous", real: awkward },
    ...{ recordings: null, status: "paused", reason: awkward, drawn_until: writtenAt },
    ...{ false_success_limit: awkwardScore, episodes: 1, run_id: idOf.run, whole_run_id: idOf.run },
  });
  const checked = { task_id: awkward, episode_id: idOf.episode, policy: awkward, ...outcomes };
  await insert("reality_episodes", {
    ...{ check_id: idOf.realityCheck, position: 1, ...checked, steps: 1, diverged_at: 1 },
    ...{ simulated_reward: awkwardScore, real_reward: awkwardScore, verbs: JSON.stringify([awkward]) },
    checked_at: writtenAt,
  });
  await insert("reality_replays", {
    ...{ check_id: idOf.realityCheck, position: 2, episode_id: null, trajectory_id: awkward, error: awkward },
  });
  await insert("reality_steps", {
    ...{ check_id: idOf.realityCheck, position: 1, step: 1, action: awkward, observation: awkward },
    ...{ reward: awkwardScore, done: 1, latency_micros: largestNumber },
  });
  await insert("environment_tasks", { environment_id: idOf.environment, split: "train", position: 0, task });
  await insert("episodes", {
    ...own,
    id: idOf.episode,
    environment_id: idOf.environment,
    environment: "kitchen",
    revision: 1,
    split: "train",
    position: 0,
    task,
    seed: largestNumber,
    policy: awkward,
    status: "finished",
    outcome: "success",
    stop_reason: awkward,
    steps: 1,
    reward: awkwardScore,
    failed_steps: 0,
    api_key_id: idOf.key,
    last_active_at: writtenAt,
    error: null,
  });
  await insert("episode_steps", {
    episode_id: idOf.episode,
    step: 1,
    action: awkward,
    reward: awkwardScore,
    terminated: 1,
    truncated: 0,
    request_key: awkward,
  });
  await insert("ors_sessions", {
    id: idOf.episode,
    account_id: idOf.account,
    wanted: JSON.stringify({ environment: "kitchen" }),
    environment: "kitchen",
    delivered_steps: 0,
    created_at: writtenAt,
    last_used_at: writtenAt,
  });
}
