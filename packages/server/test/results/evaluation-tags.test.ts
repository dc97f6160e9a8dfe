import { expect, test } from "bun:test";
import { EvaluationTagListResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient, resultsPath } from "../support/resources/evaluation-results.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onEachDatabase } from "../support/store/databases.ts";

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const { importAll, find } = evaluationResultsClient(() => presage);

  async function listTags(query = "", headers?: Record<string, string>) {
    const response = await presage.call("GET", `${resultsPath}/tags${query}`, undefined, headers);
    expect(response.status).toBe(200);
    return EvaluationTagListResponse.parse(await response.json());
  }

  test("There are no tags without results", async () => {
    expect(await listTags()).toEqual({ tags: [], next: null });
  });

  test("Each tag is listed once, with the times of its first and its latest result", async () => {
    const ids: string[] = [];
    for (const tags of [{ env: "test" }, { env: "prod", model: "m" }, { env: "test", model: "" }]) {
      ids.push(...(await importAll([{ evaluator_id: "theirs", pass: true, tags }])));
    }
    const [first, second, third] = await Promise.all(ids.map(async (id) => (await find(id)).created_at));
    expect(await listTags()).toEqual({
      tags: [
        { key: "env", value: "prod", created_at: second ?? "", last_used: second ?? "" },
        { key: "env", value: "test", created_at: first ?? "", last_used: third ?? "" },
        { key: "model", value: "", created_at: third ?? "", last_used: third ?? "" },
        { key: "model", value: "m", created_at: second ?? "", last_used: second ?? "" },
      ],
      next: null,
    });
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    expect((await listTags("", stranger)).tags).toEqual([]);
  });

  test("They are listed in pages", async () => {
    const seen: string[] = [];
    for (let query = "?limit=3"; ; ) {
      const { tags, next } = await listTags(query);
      seen.push(...tags.map(({ key, value }) => `${key}=${value}`));
      if (next === null) break;
      query = `?limit=3&after=${encodeURIComponent(next)}`;
    }
    expect(seen).toEqual(["env=prod", "env=test", "model=", "model=m"]);
  });

  test.each(["limit=0", "after=x", "after=%5B%22a%22%5D", "after=%5B%22a%22%2C%22%5Cu0000%22%5D"])(
    "%s is refused",
    async (query) => {
      const issues = await issuesOf(await presage.call("GET", `${resultsPath}/tags?${query}`));
      expect(locationsOf(issues)).toMatchObject([{ loc: ["query", query.split("=")[0]] }]);
    },
  );
});
