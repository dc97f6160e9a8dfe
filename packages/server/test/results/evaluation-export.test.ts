import { beforeAll, expect, test } from "bun:test";
import { EvaluationResult } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient, resultsPath } from "../support/resources/evaluation-results.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";

const formula = '=HYPERLINK("http://evil.example","click")';

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { search } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await using opened = await openStore(presage.databaseUrl);
    const fields = Array.from({ length: 350 }, (_, index) => ({
      sample: {
        input: `question ${index} — 好 🙂`,
        output: 'two\nlines, "quoted"',
        retrievedContext: ["a", "b"],
      },
      metadata: { app: index % 2 === 0 ? "even" : "odd", ...(index < 10 ? { tags: { env: "prod" } } : {}) },
      outcome: {
        status: "success" as const,
        pass: index % 3 === 0,
        score: (index % 3) / 2,
        extra: { n: index },
      },
    }));
    await storeResults(opened.database, opened.owner.account_id, fields);
    await storeResults(opened.database, opened.owner.account_id, [
      { sample: { output: formula, goldAnswer: "+1" }, metadata: { app: "formula" } },
    ]);
  });

  const get = (query: Record<string, string>) =>
    presage.call("GET", `${resultsPath}/export?${new URLSearchParams(query)}`);
  const linesOf = async (response: Response) => {
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text === "" || text.endsWith("\n")).toBe(true);
    return text.split("\n").slice(0, -1);
  };

  test("JSON Lines are exactly the results of the search, in its order", async () => {
    for (const [order, turn] of [
      ["created_at", false],
      ["-created_at", true],
    ] as const) {
      const response = await get({ app: "even", order });
      expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
      expect(response.headers.get("content-disposition")).toBe(
        'attachment; filename="evaluation-results.jsonl"',
      );
      const exported = (await linesOf(response)).map((line) => EvaluationResult.parse(JSON.parse(line)));
      expect(exported).toEqual(await search({ app: "even", order, limit: 1000 }));
      expect(exported).toHaveLength(175);
      expect(Number(exported[0]?.id) > Number(exported[1]?.id)).toBe(turn);
    }
  });

  test("a complete export has no gaps and no duplicates", async () => {
    const ids = (await linesOf(await get({}))).map((line) => Number(JSON.parse(line).id));
    expect(ids).toHaveLength(351);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  });

  test.each([
    [{ tags: '{"env":"prod"}', pass: "True" }, 4],
    [{ score_raw_min: "0.4", score_raw_max: "0.6", app: "odd" }, 59],
    [{ after_id: "0", before_id: "11" }, 10],
    [{ evaluator_profile_public_id: "11111111-1111-4111-8111-111111111111" }, 351],
    [{ evaluator_profile_revision: "1" }, 351],
    [{ evaluator_profile_revision: "2" }, 0],
    [{ status: "failed" }, 0],
    [{ before_datetime: "2020-01-01T00:00:00Z" }, 0],
  ])("the filters are those of the search: %p", async (query, count) => {
    expect(await linesOf(await get(query))).toHaveLength(count);
  });

  test("a CSV has a header, current names, JSON for nested values, and no formulas", async () => {
    const response = await get({ format: "csv", app: "formula" });
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="evaluation-results.csv"');
    const [head = "", row = "", ...rest] = await linesOf(response);
    expect(rest).toEqual([]);
    const names = head.split(",");
    expect(names.slice(0, 4)).toEqual(["id", "app", "created_at", "evaluator_id"]);
    for (const old of ["input", "output", "label", "score_normalized", "explain", "system_prompt"]) {
      expect(names).not.toContain(old);
    }
    expect(row).toContain(`"'=HYPERLINK(""http://evil.example"",""click"")"`);
    expect(row).toContain(",'+1,");
    expect(row).toContain('"{""positions"":null,""extra"":null,""confidence_interval"":null}"');
    expect(row.split(",")).toContain("true");
  });

  test("line breaks, quotes and all scripts survive a CSV", async () => {
    const response = await get({ format: "csv", before_id: "3", after_id: "1" });
    const text = await response.text();
    expect(text).toContain('"two\nlines, ""quoted"""');
    expect(text).toContain("question 1 — 好 🙂");
    expect(text).toContain('"[""a"",""b""]"');
  });

  test("a CSV without rows has its header", async () => {
    expect(await linesOf(await get({ format: "csv", app: "nowhere" }))).toHaveLength(1);
    expect(await linesOf(await get({ app: "nowhere" }))).toEqual([]);
  });

  test("ids longer than any result's are after all of them", async () => {
    for (const long of ["9007199254740993", "9".repeat(400)]) {
      expect(await linesOf(await get({ after_id: long }))).toEqual([]);
      expect(await linesOf(await get({ before_id: long }))).toEqual(await linesOf(await get({})));
    }
  });

  test("old names of filters are accepted and reported as deprecated", async () => {
    const response = await get({ evaluator_profile_name: "system:default" });
    expect(response.headers.has("deprecation")).toBe(true);
    expect(await linesOf(response)).toHaveLength(351);
  });

  test("reports the issues of the query", async () => {
    const issues = await issuesOf(
      await get({
        pass: "perhaps",
        score_raw_min: "low",
        after_id: "-1",
        format: "xml",
        order: "id",
        status: "x",
      }),
    );
    expect(
      locationsOf(issues)
        .map(({ loc }) => loc[1])
        .sort(),
    ).toEqual(["pass", "score_raw_min", "after_id", "format", "order", "status"].sort());
    for (const tags of ["env", "[1]", '{"env":1}', '{"env":"\\u0000"}']) {
      expect(locationsOf(await issuesOf(await get({ tags })))).toEqual([
        { type: "value_error", loc: ["query", "tags"] },
      ]);
    }
  });

  test("requires a key", async () => {
    const response = await presage.call("GET", `${resultsPath}/export`, undefined, {});
    expect(response.status).toBe(401);
  });
});
