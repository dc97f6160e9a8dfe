import type { Presage } from "@presage/sdk";

const dayMs = 86_400_000;

export interface SetUp {
  profileId: string;
  trainingKey: string;
  nightlyKey: string;
}

/** Creates profiles, a taxonomy with two revisions, and API keys. */
export async function setUp(presage: Presage): Promise<SetUp> {
  const profile = await presage.profiles.create({
    evaluator_family: "rouge-l",
    name: "close enough",
    config: { threshold: 0.6 },
    description: "Nearly the words of the environment.",
  });
  await presage.profiles.create({
    evaluator_family: "contains",
    name: "names no tool",
    config: { substrings: ["spotify__", "supervisor__"], mode: "none" },
    description: "A state says what is there, not which tool to call.",
  });
  await makeTaxonomy(presage);
  const training = await presage.apiKeys.create({ name: "training cluster" });
  const nightly = await presage.apiKeys.create({ name: "nightly evaluation" });
  const expiry = new Date(Date.now() + 5 * dayMs).toISOString();
  await presage.apiKeys.create({ name: "notebook", expires_at: expiry });
  return { profileId: profile.public_id, trainingKey: training.key, nightlyKey: nightly.key };
}

async function makeTaxonomy(presage: Presage): Promise<void> {
  const State = ["Forgets a change", "Invents an object", "Keeps what is gone"];
  const Form = ["Not the environment’s words", "Broken JSON"];
  const first = await presage.errorTaxonomies.create({
    error_taxonomy_name: "world-model slips",
    error_taxonomy_description: "What our world model gets wrong.",
    body: { State, Form },
    labels: ["production"],
  });
  await presage.errorTaxonomies.create({
    error_taxonomy_id: first.error_taxonomy_id,
    body: { State: [...State, "Wrong room"], Form },
    labels: ["candidate"],
  });
  await presage.profiles.create({
    evaluator_family: "error-taxonomy",
    name: "slips",
    config: { error_taxonomy_name: "world-model slips", label: "production" },
    description: "Which errors of our taxonomy a prediction has.",
  });
}
