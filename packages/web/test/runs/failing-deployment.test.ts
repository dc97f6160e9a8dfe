import { afterAll, beforeAll, expect } from "bun:test";
import {
  completion,
  startUpstream,
  type TestUpstream,
} from "../../../server/test/support/upstream/upstream.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";

let upstream: TestUpstream;
beforeAll(() => {
  const tries = new Map<string, number>();
  upstream = startUpstream(({ text }) => {
    const count = (tries.get(text) ?? 0) + 1;
    tries.set(text, count);
    if (count <= 2) return Response.json({ error: { message: "Out of memory." } }, { status: 500 });
    const choices = [{ message: { role: "assistant", content: "You see" }, finish_reason: "length" }];
    return Response.json(completion("", { choices }));
  });
});
afterAll(() => upstream.stop());

const { dashboardTest, slowDashboardTest } = dashboardTests(() => ({
  environment: { PRESAGE_UPSTREAM_URL: upstream.url },
}));

dashboardTest("A failing deployment and its cut answers are seen wherever they matter", async (visitor) => {
  const { id: dataset_id } = await uploadHousehold(visitor.client, "household");
  const run = await finishRun(visitor.client, {
    name: "cut",
    dataset_id,
    target: { deployment: "default" },
    params: { max_tokens: 2 },
  });
  const again = "12 calls tried again (upstream 12)";
  const page = await visitor.visit(`/runs/${run.id}`);
  await page.getByText(again).waitFor();
  await page.getByText("100 % of the answers were cut at 2 tokens (6 of 6)").waitFor();
  await page.getByRole("row", { name: "Upstream Call, tried again 12" }).waitFor();
  expect(await page.getByText("Nothing failed.").count()).toBe(0);

  const runs = await visitor.visit("/runs");
  await runs.getByTitle(`6 answers cut; ${again}`).waitFor();

  const overview = await visitor.visit("/");
  await overview.getByText("6 answers cut").filter({ visible: true }).first().waitFor();
  await overview.getByTitle(again).filter({ visible: true }).first().waitFor();
  await overview.getByText(/^degraded: 66\.7 % of its calls of the last 5 minutes failed$/).waitFor();
  await overview.getByRole("link", { name: "Deployment default" }).click();
  await overview.getByText("Degraded", { exact: true }).waitFor();
  await overview.getByText("1 of 1 up, 66.7 % of tries failed in 5 minutes").waitFor();
  await overview.getByText("12 of 18").waitFor();
});

dashboardTest("What a judge failed on is judged again from the run's page", async (visitor) => {
  const { id: dataset_id } = await uploadHousehold(visitor.client, "unjudged");
  const { answer } = upstream;
  upstream.answer = () => Response.json(completion("No verdict."));
  const run = await finishRun(visitor.client, {
    name: "unjudged",
    dataset_id,
    target: { baseline: "no-change" },
    evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
  });
  upstream.answer = () => Response.json(completion('{"reasoning": "Short.", "verdict": "pass"}'));
  const page = await visitor.visit(`/runs/${run.id}`);
  await page.getByText("6 without a verdict").waitFor();
  await page.getByRole("button", { name: "Judge again" }).click();
  await page.getByText("6 without a verdict").waitFor({ state: "detached" });
  await page.getByText("100 %").filter({ visible: true }).first().waitFor();
  expect(await page.getByRole("button", { name: "Judge again" }).count()).toBe(0);
  upstream.answer = answer;
});

slowDashboardTest(
  "A deployment that is out without recent calls is said to be out, and nothing of its calls",
  async (visitor) => {
    const page = await visitor.visit("/");
    const deployment = { name: "default", model: "m", is_default: true, process_id: 1 };
    const data = [{ ...deployment, state: "out", error_rate: null }];
    await page.route("**/v1/deployments*", (route) => route.fulfill({ json: { data } }));
    await page.reload();
    await page
      .getByRole("listitem")
      .filter({ hasText: /^Deployment defaultout$/ })
      .waitFor();
  },
);
