import { Dataset, RealityCheck, RealityCheckDetail } from "@presage/contract";
import { eventually } from "../eventually.ts";

export const firstState =
  "This room is called the workshop. In it, you see: a lantern, which is deactivated. a chest. The chest door is closed.";
const map = "[workshop]\nThis room is called the workshop.";

/**
 * In each trajectory the lantern is turned on, then the chest is opened. In reality the chest is locked in every third one; in the last, the
 * lantern flickers, so that only there the sandbox is wrong about the first step.
 */
const lines = Array.from({ length: 10 }, (_, index) => {
  const at = {
    trajectory_id: `t${index}`,
    tags: { task: `task ${index % 4}` },
    context: { environment_state: map, task_context: "Open the chest." },
  };
  const isLocked = index % 3 === 0 && index < 9;
  const lit = index === 9 ? "The lantern flickers." : "The lantern is now activated.";
  const opened = isLocked ? "It is locked." : "The chest is now open.";
  return [
    { ...at, step: 0, interaction: { state: firstState, action: "activate lantern" }, next_state: lit },
    {
      ...at,
      step: 1,
      interaction: { state: lit, action: "open chest" },
      next_state: opened,
      reward: isLocked ? 0 : 1,
    },
  ];
}).flat();

/** Has the sandbox play ten recordings. Returns the check when it has ended. */
export async function checkRecordings(
  call: (method: string, path: string, body?: unknown) => Promise<unknown>,
  environment: string,
): Promise<RealityCheckDetail> {
  const stop = [{ output_contains: "chest is now open", outcome: "success" }];
  await call("POST", "/v1/environments", { name: environment, prompt_form: "chat", stop });
  const { id: dataset } = Dataset.parse(await call("POST", "/v1/datasets", { name: environment }));
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  await call("POST", `/v1/datasets/${dataset}/revisions`, text);
  const made = await call("POST", "/v1/reality-checks", { environment, dataset_id: dataset });
  const { id } = RealityCheck.parse(made);
  return await eventually(
    async () => RealityCheckDetail.parse(await call("GET", `/v1/reality-checks/${id}`)),
    ({ status }) => status !== "running",
  );
}
