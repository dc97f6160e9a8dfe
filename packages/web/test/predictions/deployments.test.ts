import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  completion,
  startUpstream,
  type TestUpstream,
} from "../../../server/test/support/upstream/upstream.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";

let directory: string;
let small: TestUpstream;
let large: TestUpstream;
/** Nothing listens on a reserved port. No other port of the tests starts with its number. */
const gone = "127.0.0.1:9";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-deployments-page-"));
  small = startUpstream(() => Response.json(completion("The small model answers.")));
  large = startUpstream(() => Response.json(completion("The large model answers.")));
  await writeFile(
    join(directory, "deployments.yaml"),
    `default: small
deployments:
  small: { replicas: [${small.url}, http://${gone}/v1], model: org/small, max_in_flight_per_replica: 64 }
  large: { replicas: [${large.url}], model: org/large }
`,
  );
});
afterAll(async () => {
  await Promise.all([small.stop(), large.stop()]);
  await rm(directory, { recursive: true });
});

const { dashboardTest, slowDashboardTest } = dashboardTests(() => ({
  environment: { PRESAGE_DEPLOYMENTS: join(directory, "deployments.yaml") },
}));

dashboardTest(
  "Each deployment shows its replicas, and what becomes of them without a reload",
  async (visitor) => {
    const { id: dataset_id } = await uploadHousehold(visitor.client, "household");
    await finishRun(visitor.client, { dataset_id, target: { deployment: "large" } });
    const page = await visitor.visit("/");
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Deployments" }).click();
    const deployments = page.getByRole("region", { name: "Deployments" });
    const replicas = page.getByRole("region", { name: "Replicas" });
    const bad = replicas.getByRole("row", { name: gone });
    await bad.getByText("Up").waitFor();
    await page.getByText("2 of 2 up").waitFor();
    await deployments.getByRole("row", { name: "large" }).getByText("Up", { exact: true }).waitFor();

    // Stored predictions are counted for all processes, including those of the run.
    const large = deployments.getByRole("row", { name: "large" });
    await large.getByRole("link", { name: "6" }).waitFor();
    await large.getByText("0 of 6").waitFor();
    // The account's calls are counted whether stored or not.
    await page.getByRole("figure", { name: "Calls for predictions by hour" }).getByText("Of runs").waitFor();

    // The addresses determine which sessions use the bad replica.
    let sessions = 0;
    await eventually(
      async () => {
        sessions += 1;
        await visitor.client.predict(
          { interaction: { state: "You are in the hall.", action: "open door" } },
          { sessionId: `rollout-${sessions}` },
        );
        return await bad.getByText("Ejected").isVisible();
      },
      (isEjected) => isEjected,
    );
    await bad.getByText(/^Unavailable,/).waitFor();
    await deployments.getByText("A replica does not answer: check that its server runs").waitFor();
    await page.getByText("1 of 2 up").waitFor();
    expect(await replicas.getByRole("row", { name: new URL(small.url).host }).textContent()).toContain("64");
  },
);

slowDashboardTest(
  "In the playground the chosen deployment is asked, and the response says who answered",
  async ({ visit }) => {
    const page = await visit("/playground");
    const choice = page.getByRole("combobox", { name: "Answered by" });
    await choice.waitFor();
    expect(await choice.getByRole("option").allTextContents()).toEqual([
      "small: org/small",
      "large: org/large",
    ]);
    await page.getByRole("textbox", { name: "State", exact: true }).fill("You are in the hall.");
    await page.getByRole("textbox", { name: "Action", exact: true }).fill("open door");
    await page.getByRole("button", { name: "Predict" }).click();
    const first = page.getByRole("region", { name: "Response 1" });
    await first.getByText("The small model answers.").waitFor();
    await page.getByText("small", { exact: true }).waitFor();

    await choice.selectOption("large: org/large");
    await page.getByRole("button", { name: "Predict" }).click();
    const second = page.getByRole("region", { name: "Response 2" });
    await second.getByText("The large model answers.").waitFor();
    await page.getByText("large", { exact: true }).waitFor();
    expect(large.received.at(-1)?.body.model).toBe("org/large");

    await page.getByRole("tab", { name: "Code" }).click();
    await page.getByText("X-Presage-Deployment: large").waitFor();
  },
);
