import type { Presage } from "@presage/sdk";
import { finishRun, uploadHousehold } from "./household.ts";

/** Gives every page data to show, and returns the ids of some resources. */
export async function fillDashboard(presage: Presage) {
  const profile = await presage.profiles.create({
    evaluator_family: "rouge-l",
    name: "close enough",
    config: { threshold: 0.9 },
    description: "Nearly the words of the environment.",
  });
  await presage.profiles.revise(profile.public_id, { config: { threshold: 0.7 } });
  const taxonomy = await presage.errorTaxonomies.create({
    error_taxonomy_name: "slips",
    body: { State: ["Forgets a change", "Invents an object"], Form: ["Broken JSON"] },
    labels: ["production"],
  });
  await presage.errorTaxonomies.create({
    error_taxonomy_id: taxonomy.error_taxonomy_id,
    body: { State: ["Forgets a change", "Wrong room"], Form: ["Broken JSON"] },
    labels: ["candidate"],
  });
  const { id } = await presage.apiKeys.create({ name: "notebook" });
  await presage.apiKeys.revoke(id);
  await presage.apiKeys.create({ name: "training cluster" });

  const { response } = await presage.predict({
    interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
  });
  const golds = [response.content, "The fridge is now open.", "The fridge hums."];
  const answers = await Promise.all(
    golds.map((gold, index) =>
      presage.evaluate({
        evaluators: [
          { evaluator: "exact-match" },
          { evaluator: "rouge-l", profile_name: "close enough" },
          // This evaluator fails without a model.
          { evaluator: "judge", profile_name: "system:is-concise" },
        ],
        evaluated_model_input: "You are in the kitchen. The fridge is closed.",
        evaluated_model_output: response.content,
        evaluated_model_gold_answer: gold,
        app: "world-model",
        tags: { step: String(index) },
      }),
    ),
  );
  const results = answers
    .flat()
    .map(({ evaluation_result }) => evaluation_result?.id)
    .filter((id) => typeof id === "string");
  const [result = ""] = results;
  await presage.results.correct(result, { pass: false, comment: "The door is not named." });
  const dataset = await uploadHousehold(presage, "household");
  await presage.worlds.create({
    name: "rooms-of-records",
    examples: { dataset: dataset.id },
    model: { kind: "retrieval" },
  });
  await presage.worlds.revise("rooms-of-records", { retrieval: { k: 4 } });
  const target = { dataset_id: dataset.id, evaluators: [{ evaluator: "exact-match" }] };
  const run = await finishRun(presage, {
    ...target,
    name: "nothing changes",
    target: { baseline: "no-change" },
  });
  const other = await finishRun(presage, {
    ...target,
    name: "the commonest",
    target: { baseline: "most-frequent" },
  });
  return {
    profile: profile.public_id,
    taxonomy: taxonomy.error_taxonomy_id,
    result,
    dataset: dataset.id,
    run: run.id,
    other: other.id,
  };
}
