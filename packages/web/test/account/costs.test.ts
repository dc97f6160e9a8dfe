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

let directory: string;
let upstream: TestUpstream;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-costs-page-"));
  upstream = startUpstream(() => Response.json(completion("The door is open.")));
  const prices = "currency: EUR\nmodels:\n  org/priced: { prompt: 100000, completion: 200000 }\n";
  await writeFile(join(directory, "prices.yaml"), prices);
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true });
});

const { dashboardTest } = dashboardTests(() => ({
  environment: {
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "org/priced",
    PRESAGE_PRICES: join(directory, "prices.yaml"),
  },
}));

dashboardTest(
  "The usage page shows costs where there is a price list, and what they leave out",
  async (visitor) => {
    const messages = [{ role: "user" as const, content: "open door" }];
    await visitor.client.predict({ interaction: { state: "You are in the hall.", action: "open door" } });
    await visitor.client.chatCompletions.create({ model: "org/unpriced", messages });
    await eventually(
      () => visitor.client.usage.list(),
      ({ data }) => data.length === 2,
    );
    const page = await visitor.visit("/usage");
    const row = (name: string) =>
      page
        .getByRole("table", { name: "Usage by operation" })
        .getByRole("row", { name })
        .getByRole("cell")
        .nth(3);
    await page.getByText("Costs leave out 18 tokens whose model has no price or is not known.").waitFor();
    // 11 prompt and 7 completion tokens.
    expect(await row("Requests for predictions").textContent()).toBe("€2.50");
    expect(await row("Chat completions").textContent()).toBe("–");
    expect(await row("Calls to judges").textContent()).toBe("–");
  },
);
