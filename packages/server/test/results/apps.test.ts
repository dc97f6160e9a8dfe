import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });

  async function listApps(headers?: Record<string, string>): Promise<unknown> {
    const response = await presage.call("GET", "/v1/apps", undefined, headers);
    expect(response.status).toBe(200);
    return await response.json();
  }

  async function evaluateFor(app: string | null): Promise<void> {
    const texts = { evaluated_model_output: "x", evaluated_model_gold_answer: "x" };
    const body = { evaluators: [{ evaluator: "exact-match" }], ...texts, app };
    expect((await presage.call("POST", "/v1/evaluate", body)).status).toBe(200);
  }

  test("There are no apps without results", async () => {
    expect(await listApps()).toEqual({ apps: [], next: null });
  });

  test("Each app with results is listed once, ordered by name, and not shown to other accounts", async () => {
    for (const app of ["öffnen", "beta", "Zeta", null, "beta", "a b"]) await evaluateFor(app);
    const names = ["Zeta", "a b", "beta", "default", "öffnen"];
    expect(await listApps()).toEqual({ apps: names.map((name) => ({ name })), next: null });
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    expect(await listApps(stranger)).toEqual({ apps: [], next: null });
  });

  test("They are listed by limit and offset as well", async () => {
    const response = await presage.call("GET", "/v1/apps?limit=2&offset=1");
    const apps = ["a b", "beta"].map((name) => ({ name }));
    expect(await response.json()).toEqual({ apps, next: "beta" });
    expect((await presage.call("GET", "/v1/apps?offset=-1")).status).toBe(422);
  });

  test("They are listed in pages, each continuing after the last name, whatever its characters", async () => {
    for (const app of ["🚪", "\uff5e", "a%b", "é"]) await evaluateFor(app);
    const pages: string[][] = [];
    let query = "?limit=4";
    for (;;) {
      const response = await presage.call("GET", `/v1/apps${query}`);
      const { apps, next } = (await response.json()) as { apps: { name: string }[]; next: string | null };
      pages.push(apps.map(({ name }) => name));
      if (next === null) break;
      expect(next).toBe(apps.at(-1)?.name ?? "");
      query = `?limit=4&after=${encodeURIComponent(next)}`;
    }
    expect(pages).toEqual([["Zeta", "a b", "a%b", "beta"], ["default", "é", "öffnen", "\uff5e"], ["🚪"]]);
  });
});
