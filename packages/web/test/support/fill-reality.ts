import type { Presage } from "@presage/sdk";
import { eventually } from "../../../server/test/support/eventually.ts";

const start =
  "This room is called the workshop. In it, you see: a lantern, which is deactivated. a chest. The chest door is closed.";
const lit = "The lantern is now activated.";
const context = {
  environment_state: "[workshop]\nThis room is called the workshop.",
  task_context: "Open the chest.",
};

/** In a third of the recordings, the chest is locked in reality, and the agent looks around before opening it. */
const recordings = Array.from({ length: 24 }, (_, index) => {
  const isLocked = index % 3 === 0;
  const steps = [
    { action: "activate lantern", next_state: lit },
    ...(isLocked ? [{ action: "look around", next_state: start.replace("deactivated", "activated") }] : []),
    {
      action: "open chest",
      next_state: isLocked ? "It is locked." : "The chest is now open.",
      reward: isLocked ? 0 : 1,
    },
  ];
  return steps.map(({ action, ...after }, step) => ({
    ...{ trajectory_id: `t${index}`, step, context, ...after },
    interaction: { state: step === 0 ? start : (steps[step - 1]?.next_state ?? ""), action },
  }));
}).flat();

/** Creates the environment `rooms` with too many false successes: a check of recordings, and one of 3 policies in 30 tasks. */
export async function fillReality(client: Presage): Promise<void> {
  if ((await client.environments.list()).some(({ name }) => name === "rooms")) return;
  const stop = [{ output_contains: "chest is now open", outcome: "success" as const }];
  const real = { name: "lab", false_success_limit: 0.1 };
  await client.environments.create({ name: "rooms", prompt_form: "chat", stop, real });
  const { id } = await client.datasets.create({ name: "recorded in the workshop" });
  await client.datasets.upload(id, recordings.map((line) => JSON.stringify(line)).join("\n"));
  await client.realityChecks.create({
    ...{ name: "three policies", environment: "rooms" },
    pairs: Array.from({ length: 90 }, (_, index) => ({
      ...{ task_id: `task ${index % 30}`, policy: `step-${400 * (1 + Math.floor(index / 30))}` },
      ...{ simulated: index % 10 > 0, real: index % 10 > 0 && index % 5 > Math.floor(index / 30) },
    })),
  });
  await client.realityChecks.create({ environment: "rooms", dataset_id: id });
  await eventually(
    () => client.realityChecks.list({ environment: "rooms" }),
    (checks) => checks.every(({ status }) => status === "completed"),
  );
}
